import { createDice } from '../support/dice.ts'

/** How a renter's instance ends: by what the renter does, or by a rule when nothing is done. */
const endings = ['release', 'delete', 'force', 'idle', 'maxDuration'] as const
type Ending = (typeof endings)[number]

/** Some real milliseconds after so many kills. Kills take longer on a busy machine, and renters wait with it. */
export type Moment = { kills: number; ms: number }

/** What one renter does. */
export type Errand = {
  key: string
  body: object
  asksAt: Moment
  ending: Ending
  /** When it does what it does next; at once where that is over. */
  endsAt: Moment
}

/** A kill comes so long after the process was started, or when it has said so many lines since it was ready. */
export type Kill = { afterMs: number } | { afterLines: number }

const machines = {
  oneGpu: { gpu: 'MI300X:1', backends: ['hotaisle'] },
  /** An hour is prepaid. */
  twoGpus: { gpu: 'MI300X:2', backends: ['hotaisle'] },
  /** Eight hours are prepaid, so that these go back by force. */
  server: { gpu: 'MI300X:8', backends: ['hotaisle'] },
  oci: { gpu: 'A10:1', backends: ['oci'] },
}

const limits: Record<Ending, object> = {
  release: { idleDuration: '1m' },
  delete: { idleDuration: 'off' },
  force: { idleDuration: 'off' },
  idle: { idleDuration: '1m' },
  maxDuration: { idleDuration: 'off', maxDuration: '6m' },
}

/** 30 errands and 20 kills, the same for the same seed. The mixture is fixed; order and pauses are not. */
export const planOf = (seed: number): { errands: Errand[]; kills: Kill[] } => {
  const dice = createDice(seed)
  const kinds = [
    ...Array<keyof typeof machines>(14).fill('oneGpu'),
    ...Array<keyof typeof machines>(3).fill('twoGpus'),
    ...Array<keyof typeof machines>(12).fill('oci'),
    'server' as const,
  ]
  const everyEnding = dice.shuffled(kinds.map((_, n) => endings[n % endings.length] ?? 'idle'))
  const errands = dice.shuffled(kinds).map((kind, n): Errand => {
    const ending = kind === 'server' ? 'force' : (everyEnding[n] ?? 'idle')
    const asksAfter = dice.int(0, 11)
    return {
      key: `request-${n}`,
      body: { ...machines[kind], ...limits[ending], reuse: false },
      asksAt: { kills: asksAfter, ms: dice.int(0, 1499) },
      ending,
      endsAt: { kills: asksAfter + dice.int(2, 8), ms: dice.int(0, 1499) },
    }
  })
  const kills = dice.shuffled([
    ...Array.from({ length: 8 }, (): Kill => ({ afterMs: dice.int(0, 1499) })),
    ...Array.from({ length: 12 }, (): Kill => ({ afterLines: dice.int(1, 39) })),
  ])
  return { errands, kills }
}
