import type { Dice } from '../support/dice.ts'
import type { Clouds, Rented } from './clouds.ts'
import type { Cloud, Faults } from './faults.ts'
import type { Guests } from './guests.ts'
import type { Promises } from './promises.ts'
import type { Timeline } from './timeline.ts'

const minuteMs = 60_000
const everyMs = 5 * minuteMs

/** What happens in the clouds and to the machines without anybody asking Berth. */
export const createMishaps = (parts: {
  timeline: Timeline
  dice: Dice
  faults: Faults
  clouds: Clouds
  guests: Guests
  promises: Promises
  /** Requests of people and of other programs with the same keys. */
  reach: Record<Cloud, typeof fetch>
  owner: () => Promise<string>
  tell: (line: string) => void
}) => {
  const { timeline, dice, faults, clouds, guests, promises, tell } = parts
  const { hotaisle, oci } = clouds
  const repairs: (() => void)[] = []

  /** Until a while is over, or the faults are. */
  const forAWhile = (undo: () => void) => {
    repairs.push(undo)
    timeline.at(timeline.now() + dice.int(3, 25) * minuteMs, undo)
  }
  const ours = (cloud: Cloud): Rented[] =>
    clouds.rented(cloud).filter(({ isLive, id }) => isLive && promises.rentedFor.has(id))
  const oneOf = (machines: Rented[]): Rented | undefined =>
    machines.length === 0 ? undefined : machines[dice.int(0, machines.length - 1)]
  const anyMachine = () => oneOf([...ours('hotaisle'), ...ours('oci')])

  const atHotAisle = (method: string, path: string, body?: object) =>
    parts.reach.hotaisle(`http://hotaisle/api/teams/${hotaisle.team}/${path}`, {
      method,
      headers: { authorization: `Token ${hotaisle.apiKey}` },
      ...(body && { body: JSON.stringify(body) }),
    })

  /** A server that somebody else rents, with a description of theirs. */
  const rentServer = async (description: string): Promise<Rented | undefined> => {
    const before = new Set(clouds.rented('hotaisle').map(({ id }) => id))
    const specs = clouds.stock.hotaisle.find(({ kind }) => kind === 'bm')?.specs
    await atHotAisle('POST', 'bare_metal/', { specs, description })
    return clouds.rented('hotaisle').find(({ id }) => !before.has(id))
  }
  const rentVm = async (): Promise<Rented | undefined> => {
    const before = new Set(clouds.rented('hotaisle').map(({ id }) => id))
    await atHotAisle('POST', 'virtual_machines/', clouds.stock.hotaisle.at(-1)?.specs)
    return clouds.rented('hotaisle').find(({ id }) => !before.has(id))
  }

  const happenings: Record<string, () => void | Promise<void>> = {
    'agent: dies': () => {
      const machine = anyMachine()
      if (machine) guests.killAgent(machine.machineId)
    },
    'machine: unreachable for a while': () => {
      const machine = anyMachine()
      if (!machine) return
      guests.cutOff(machine.machineId)
      forAWhile(() => guests.reconnect(machine.machineId))
    },
    'hotaisle: machine deleted by a person': async () => {
      const machine = oneOf(ours('hotaisle'))
      if (!machine) return
      tell(`HAPP a person deletes ${machine.cloudId} ${machine.id}`)
      const kind = machine.cloudId.includes('vm') ? 'virtual_machines' : 'bare_metal'
      await atHotAisle('DELETE', `${kind}/${machine.cloudId}/?force=true`)
    },
    'hotaisle: key refused for a while': () => {
      hotaisle.setApiKey('another.key')
      forAWhile(() => hotaisle.setApiKey(hotaisle.apiKey))
    },
    'hotaisle: sold out for a while': () => {
      hotaisle.setStock(clouds.stock.hotaisle.map((row) => ({ ...row, quantity: 0 })))
      forAWhile(() => hotaisle.setStock(clouds.stock.hotaisle))
    },
    'hotaisle: orphan with our mark': async () => {
      const machine = await rentServer(`berth:${await parts.owner()}:i-${dice.hex(12)}:1`)
      if (machine) tell(`HAPP ${machine.cloudId} ${machine.id} has our mark and no record`)
    },
    'hotaisle: machine of another Berth': async () => {
      const machine = await rentServer(`berth:0badcafe:i-${dice.hex(12)}:1`)
      if (machine) promises.isNotOurs(machine.id)
    },
    'hotaisle: machine of a stranger': async () => {
      const machine = await rentVm()
      if (machine) promises.isNotOurs(machine.id)
    },
    'oci: preemptible machine taken': async () => {
      const taken = oci.ledger().filter((each) => each.preemptible && each.endedAt === null)
      const first = taken[0]
      if (!first) return
      tell(`HAPP OCI takes ${first.instanceId}`)
      await oci.preempt(first.instanceId)
    },
    'oci: 404 to everything for a while': () => {
      oci.switches.credentials = 'all_404'
      forAWhile(() => Object.assign(oci.switches, { credentials: 'good' }))
    },
    'oci: 401 to everything for a while': () => {
      oci.switches.credentials = 'all_401'
      forAWhile(() => Object.assign(oci.switches, { credentials: 'good' }))
    },
    'oci: capacity reports lie': () => {
      oci.switches.capacityReportsLie = true
      forAWhile(() => Object.assign(oci.switches, { capacityReportsLie: false }))
    },
    'oci: sold out for a while': () => {
      oci.setStock(clouds.stock.oci.map((row) => ({ ...row, onDemand: 0, preemptible: 0 })))
      forAWhile(() => oci.setStock(clouds.stock.oci))
    },
  }

  let stopped = false
  /** One after the other, so that it is known who rented what. */
  const tick = async () => {
    if (stopped) return
    for (const [point, happen] of Object.entries(happenings)) if (faults.strikes(point)) await happen()
    timeline.at(timeline.now() + everyMs, () => void tick())
  }

  return {
    start: () => void tick(),
    /** All is as it should be again; what is gone or dead stays so. */
    stop: () => {
      stopped = true
      for (const undo of repairs) undo()
      guests.reconnectAll()
    },
    /** How the machine will be that is being rented. */
    beforeLaunch: (cloud: Cloud, isBareMetal: boolean) => {
      const next: { bootMs?: number; gpuCount?: number } = {}
      const minutes = (least: number, most: number) => dice.int(least, most) * minuteMs
      if (faults.strikes(`${cloud}: slow boot`)) next.bootMs = isBareMetal ? minutes(10, 18) : minutes(4, 8)
      if (faults.strikes(`${cloud}: boots after the deadline`))
        next.bootMs = isBareMetal ? minutes(70, 90) : minutes(11, 20)
      if (faults.strikes(`${cloud}: GPU missing`)) next.gpuCount = 0
      if (cloud === 'hotaisle')
        hotaisle.faults.nextMachine({
          ...next,
          ...(faults.strikes('hotaisle: installation fails') && { installFails: dice.int(1, 2) }),
        })
      else
        oci.faults.nextMachine({
          ...next,
          ...(faults.strikes('oci: launch fails later') && {
            failure: { afterMs: minutes(0, 3), code: 'LimitExceeded', message: 'the limit is reached' },
          }),
        })
    },
  }
}
