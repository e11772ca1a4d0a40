import type { Dice } from '../support/dice.ts'

const clouds = ['hotaisle', 'oci'] as const
export type Cloud = (typeof clouds)[number]

/** What can go wrong with a request to a cloud, by what the request is for. */
const troubles = {
  launch: ['answer lost', 'done late', '500 though done', '500', '503', '429', 'cut', 'refused'],
  release: ['answer lost', '500 though done', '500', '503', '429', 'cut'],
  write: ['answer lost', '500', '429', 'cut'],
  read: ['answer lost', '500', '503', '429', 'cut'],
} as const
export type Purpose = keyof typeof troubles
export type Trouble = (typeof troubles)[Purpose][number]

export const troublesOf = (purpose: Purpose): readonly Trouble[] => troubles[purpose]

export const networkPoint = (cloud: Cloud, purpose: Purpose, trouble: Trouble) =>
  `${cloud} ${purpose}: ${trouble}`

const purposes = ['launch', 'release', 'write', 'read'] as const satisfies Purpose[]

/** The calls after which a function can die, each as it stands in `crash after …`. */
const calls = [
  'read of the table',
  'write of the table',
  'lock',
  'message',
  ...clouds.flatMap((cloud) => purposes.map((purpose) => `${cloud} ${purpose}`)),
  'SSH connection',
  'bootstrap script',
  'agent health',
  'hardware check',
  'activity check',
  'SSH keys',
] as const

/** Everything that can go wrong in a run, by name. */
export const faultPoints: readonly string[] = [
  ...calls.map((call) => `crash after ${call}`),
  ...clouds.flatMap((cloud) =>
    purposes.flatMap((purpose) => troubles[purpose].map((trouble) => networkPoint(cloud, purpose, trouble))),
  ),
  'table: read throttled',
  'table: write throttled',
  'table: write conflicted',
  'table: answer of a write lost',
  'table: index far behind',
  'lock: throttled',
  'lock: answer lost',
  'message: lost',
  'message: doubled',
  'message: late',
  'message: can not be sent',
  'schedule: skipped',
  'function: cold start',
  'clock: forward',
  'clock: back',
  'SSH: refused',
  'SSH: hangs',
  'SSH: rejects the key',
  'agent: dies',
  'agent: silent once',
  'machine: unreachable for a while',
  'hotaisle: slow boot',
  'hotaisle: boots after the deadline',
  'hotaisle: installation fails',
  'hotaisle: GPU missing',
  'hotaisle: machine deleted by a person',
  'hotaisle: key refused for a while',
  'hotaisle: sold out for a while',
  'hotaisle: orphan with our mark',
  'hotaisle: machine of a stranger',
  'hotaisle: machine of another Berth',
  'oci: slow boot',
  'oci: boots after the deadline',
  'oci: GPU missing',
  'oci: launch fails later',
  'oci: preemptible machine taken',
  'oci: 404 to everything for a while',
  'oci: 401 to everything for a while',
  'oci: capacity reports lie',
  'oci: sold out for a while',
]

export type Faults = {
  /** Whether the fault of that name strikes now. Throws for a name that is not on the list. */
  strikes(point: string): boolean
  /** From here on nothing goes wrong. */
  stop(): void
  hits(): ReadonlyMap<string, number>
}

/**
 * In a run about a third of the faults are about, each at a rate of its own between 5 and 10 %: all at once, nothing would
 * ever get far. Of those that have few chances, most are, and often.
 */
const isRare = (point: string) => /launch|release|boot|GPU|fails|preemptible/.test(point)

export const createFaults = (dice: Dice, tell: (line: string) => void): Faults => {
  const rates = new Map(
    faultPoints.map((point) => {
      const [share, least] = isRare(point) ? [0.85, 80] : [0.35, 50]
      return [point, dice.chance(share) ? dice.int(least, 100) / 1000 : 0]
    }),
  )
  const hits = new Map<string, number>()
  let stopped = false
  return {
    strikes: (point) => {
      const rate = rates.get(point)
      if (rate === undefined) throw new Error(`"${point}" is not on the list of faults`)
      if (stopped || rate === 0 || !dice.chance(rate)) return false
      hits.set(point, (hits.get(point) ?? 0) + 1)
      tell(`FAULT ${point}`)
      return true
    },
    stop: () => {
      stopped = true
    },
    hits: () => hits,
  }
}
