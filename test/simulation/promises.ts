import type { Fleet } from '../../lib/model/fleet.ts'
import type { Instance } from '../../lib/model/instance.ts'
import type { Limits } from '../../lib/model/limits.ts'
import { type Spend, usageOf } from '../../lib/model/spend.ts'
import { mayBecome } from '../../lib/model/status.ts'
import { stepOf } from '../../lib/model/step.ts'
import type { Clouds, Rented } from './clouds.ts'
import type { Cloud } from './faults.ts'
import { createFleetPromises } from './fleet-promises.ts'
import type { Run } from './functions.ts'
import type { Witness } from './network.ts'
import type { Timeline } from './timeline.ts'

/** What clocks differ by, and how long a look may be old when it is acted on, in milliseconds. */
const skewMs = 5000
const oldestLookMs = 110_000

export type Promises = ReturnType<typeof createPromises>

/** Holds Berth to what it promises, by the clouds' books and by what is written into the table. */
export const createPromises = (parts: {
  timeline: Timeline
  clouds: Clouds
  /** The records as they are. */
  records: () => Instance[]
  fleets: () => Fleet[]
  /** Since when a machine has been in use without a break, if it is. */
  inUseSince: (machineId: string) => number | undefined
  limits: Limits
  keyLimits: Record<string, Limits>
  tell: (line: string) => void
}) => {
  const { timeline, clouds, tell } = parts
  const violations: string[] = []
  /** For whom each machine was rented: the instance whose function asked for it. */
  const rentedFor = new Map<string, string>()
  const notOurs = new Set<string>()
  const forced = new Set<string>()
  const keys = new Map<string, string>()

  const violated = (promise: string) => {
    if (violations.includes(promise)) return
    violations.push(promise)
    tell(`VIOLATED ${promise}`)
  }
  const fleets = createFleetPromises({ ...parts, violated })
  const recordOf = (id: string | undefined) => parts.records().find((record) => record.id === id)
  const all = () => [...clouds.rented('hotaisle'), ...clouds.rented('oci')]
  const leads = (record: Instance, rented: Rented) =>
    record.status !== 'terminated' && isMachineOf(record, rented)

  const launched = (cloud: Cloud, before: Set<string>, run: Run | undefined) => {
    const id = run?.instanceId ?? ''
    for (const rented of clouds.rented(cloud).filter((each) => !before.has(each.id))) {
      rentedFor.set(rented.id, id)
      tell(`RENT ${cloud} ${rented.cloudId} ${rented.id} for ${id}`)
      const live = all().filter((each) => rentedFor.get(each.id) === id && each.isLive)
      if (live.length > 1)
        violated(`1: ${id} has ${live.length} machines at once: ${live.map((each) => each.id).join(', ')}`)
    }
  }

  const released = (rented: Rented, run: Run | undefined) => {
    const id = run?.instanceId ?? ''
    tell(`GIVE ${rented.cloud} ${rented.cloudId} ${rented.id} back by ${id}`)
    const record = recordOf(id)
    if (notOurs.has(rented.id)) violated(`2: ${rented.id} is not Berth's, and was given back by ${id}`)
    else if (!record || !isMachineOf(record, rented))
      violated(`2: ${id} gave ${rented.id} back, which it has not`)
    if (timeline.now() < rented.prepaidUntil && !forced.has(id))
      violated(`3: ${rented.id} was given back by ${id} inside its prepaid time, and nobody forced it`)
  }

  const written = (before: Instance | undefined, after: Instance) => {
    const { id } = after
    if (!before) return
    const last = after.events.at(-1)
    if (before.status !== after.status || before.phase !== after.phase)
      tell(
        `  ${id} ${before.status} -> ${after.status} ${after.phase ?? ''} v${after.version}: ${last?.message}`,
      )
    if (after.version !== before.version + 1)
      violated(`fence: ${id} went from version ${before.version} to ${after.version}`)
    if (!mayBecome(before.status, after.status))
      violated(`${id} went from ${before.status} to ${after.status}`)
    const isTaken = before.status === 'busy' && after.claim && before.claim?.holder !== after.claim.holder
    if (isTaken)
      violated(`3: ${id} was claimed by ${after.claim?.holder} while ${before.claim?.holder} had it`)
    if (
      after.status === 'terminating' &&
      before.status !== 'terminating' &&
      after.terminationReason === 'idle_timeout'
    )
      idledOut(before, after)
    if (before.status === 'provisioning' && (after.status === 'idle' || after.status === 'busy'))
      cameIntoService(after)
    if (after.status === 'terminated') ended(after)
  }

  const idledOut = (before: Instance, after: Instance) => {
    fleets.idledOut(after)
    if (before.status !== 'idle' || before.claim) violated(`3: ${after.id} was claimed, and ended as idle`)
    // By what the record knows: the answer of a launch can get lost, and its moment with it. What the cloud charges is
    // held against the release.
    const prepaidUntil = before.reservation?.until ?? 0
    if (prepaidUntil > timeline.now() + 2 * skewMs)
      violated(
        `3: ${after.id} ended as idle while it is prepaid until ${new Date(prepaidUntil).toISOString()}`,
      )
    const rented = all().find((each) => isMachineOf(after, each))
    if (!rented) return
    const since = parts.inUseSince(rented.machineId)
    if (since !== undefined && timeline.now() - since > oldestLookMs)
      violated(`3: ${after.id} ended as idle while it was in use`)
  }

  /** The machine may be gone again by now; but there was one, and it was rented for this. */
  const cameIntoService = (after: Instance) => {
    const own = all().filter((each) => isMachineOf(after, each))
    const [machine] = own
    if (!machine || own.length > 1) violated(`1: ${after.id} is in service with ${own.length} machines`)
    else if (rentedFor.get(machine.id) !== after.id)
      violated(
        `1: ${after.id} is in service with a machine that was rented for ${rentedFor.get(machine.id) ?? 'others'}`,
      )
  }

  const ended = (after: Instance) => {
    for (const rented of all()) {
      if (isMachineOf(after, rented) && !rented.isGone)
        violated(`4: ${after.id} is terminated, and ${rented.id} is still there`)
      const isForgotten =
        rentedFor.get(rented.id) === after.id &&
        rented.isLive &&
        !parts.records().some((record) => record.id !== after.id && leads(record, rented))
      if (isForgotten) violated(`2: ${after.id} is terminated, and ${rented.id}, rented for it, goes on`)
    }
  }

  /** Never more than the limits allow: by their own arithmetic, of what is added to what stood there. */
  let known: Spend | undefined
  const committed = (after: Spend) => {
    const before = known
    known = after
    if (before && after.version !== before.version + 1)
      violated(`fence: what is committed went from version ${before.version} to ${after.version}`)
    // A machine that is found without a record counts, whatever the limits; its record begins with its end.
    const isFound = (id: string) => parts.records().find((each) => each.id === id)?.status === 'terminating'
    const isAskedFor = after.live.some(({ id, bill, holder }) => {
      const was = before?.live.find((each) => each.id === id)
      if (was === undefined) return bill === undefined && !isFound(id)
      return (!was.bill && bill) || was.holder !== holder
    })
    if (!isAskedFor) return
    const whole = usageOf(after, timeline.now())
    const check = (
      whose: string,
      { max_instances: most, max_price_per_hour: price }: Limits,
      key?: string,
    ) => {
      const held = after.live.filter(({ holder }) => key === undefined || holder === key)
      const had = (before?.live ?? []).filter(({ holder }) => key === undefined || holder === key)
      const micros = (all: typeof held) => all.reduce((sum, { bill }) => sum + (bill?.microsPerHour ?? 0), 0)
      if (most !== undefined && held.length > most && held.length > had.length)
        violated(`8: ${held.length} instances are committed by ${whose}, and ${most} are allowed`)
      if (price !== undefined && micros(held) > price * 10_000 && micros(held) > micros(had))
        violated(`8: ${micros(held) / 1_000_000} dollars an hour are committed by ${whose}`)
    }
    check('the deployment', parts.limits)
    for (const [key, limits] of Object.entries(parts.keyLimits)) check(key, limits, key)
    // The clocks of two functions differ by some seconds, in which a second's price or so accrues.
    const budget = parts.limits.monthly_budget
    const had = before ? usageOf(before, timeline.now()).month : 0
    if (budget !== undefined && whole.month > had + 100 && whole.month > budget + 100)
      violated(`8: $${whole.month / 100} are committed this month, and $${budget / 100} are allowed`)
  }

  const spendIsWhatLives = (spend: Spend | undefined, slack: number) => {
    if (!spend) return
    const live = parts.records().filter(({ status }) => status !== 'terminated')
    const counted = new Map(spend.live.map((each) => [each.id, each]))
    for (const record of live.filter(({ createdAt }) => createdAt < timeline.now() - slack)) {
      const own = counted.get(record.id)
      if (!own) violated(`8: ${record.id} lives, and does not count towards the limits`)
      else if (isPriced(record) !== (own.bill !== undefined))
        violated(`8: ${record.id} counts ${own.bill ? 'with' : 'without'} a price, and should not`)
    }
    for (const id of counted.keys())
      if (!live.some((record) => record.id === id)) violated(`8: ${id} has ended, and still counts`)
  }

  /** Why an instance can't stay as it is: one in service can, one that has ended, and one that waits for its prepaid time. */
  const restless = (record: Instance): string | undefined => {
    const step = stepOf(record)
    if (step === undefined || step === 'check') return undefined
    if (step === 'terminate' && (record.releaseAt ?? 0) > timeline.now()) return undefined
    return `is still ${record.phase ?? record.status}: ${record.events.at(-1)?.message}`
  }

  return {
    violations,
    written,
    committed,
    fleetWritten: fleets.written,
    forced,
    /** A machine that is none of this Berth's business. */
    isNotOurs: (id: string) => void notOurs.add(id),
    rentedFor,
    violated,
    /** Stands around a request to a cloud that can rent something or give it back. */
    witness:
      (cloud: Cloud): Witness =>
      async ({ run, purpose, url }, reached) => {
        if (purpose !== 'launch' && purpose !== 'release') return reached()
        const before = clouds.rented(cloud)
        const response = await reached()
        if (purpose === 'launch') launched(cloud, new Set(before.map(({ id }) => id)), run)
        else {
          const live = new Set(before.filter(({ isLive }) => isLive).map(({ id }) => id))
          const name = decodeURIComponent(url.pathname.replace(/\/$/, '').split('/').at(-1) ?? '')
          const target = before.find((each) => each.cloudId === name && live.has(each.id))
          if (target && response.ok) released(target, run)
        }
        return response
      },
    /** One idempotency key, one instance. */
    answered: (key: string, id: string) => {
      const known = keys.get(key) ?? id
      keys.set(key, known)
      if (known !== id) violated(`1: the key ${key} brought ${known}, and then ${id}`)
    },
    /** Whether every instance is where it can stay. */
    isAtRest: () => fleets.isAtRest() && parts.records().every((record) => restless(record) === undefined),
    /** Some time after the faults have stopped, everything rests, and the table and the clouds say the same. */
    atRest: (spend: Spend | undefined) => {
      spendIsWhatLives(spend, 0)
      fleets.atRest()
      const records = parts.records()
      const rented = all()
      for (const record of records) {
        const machine = rented.find((each) => isMachineOf(record, each))
        const why = restless(record)
        if (why !== undefined) violated(`5: ${record.id} ${why}`)
        if (stepOf(record) === 'check' && !machine?.isLive)
          violated(`6: ${record.id} is ${record.status}, and its machine is not there`)
        if (record.status === 'terminated' && machine && !machine.isGone)
          violated(`6: ${record.id} is terminated, and its machine is there`)
      }
      for (const each of rented) {
        if (each.isLive && !notOurs.has(each.id) && !records.some((record) => leads(record, each)))
          violated(
            `2: ${each.cloud} ${each.cloudId} (${each.mark || 'no mark'}) lives on, and no record leads to its end`,
          )
      }
    },
    /** And in the end nothing of ours is left. */
    atEnd: (spend: Spend | undefined) => {
      spendIsWhatLives(spend, 0)
      fleets.atEnd()
      for (const record of parts.records())
        if (record.status !== 'terminated') violated(`5: ${record.id} never ended: it is ${record.status}`)
      for (const each of all())
        if (each.isLive && !notOurs.has(each.id))
          violated(`2: ${each.cloud} ${each.cloudId} is never given back`)
      for (const id of notOurs) {
        const theirs = all().find((each) => each.id === id)
        if (theirs && !theirs.isLive) violated(`2: ${id} is not Berth's, and is gone`)
      }
    },
  }
}

/** By what names its rental; bare metal, which has nothing of the kind, by its mark. */
const isMachineOf = ({ backend, machine }: Instance, rented: Rented): boolean => {
  if (backend !== rented.cloud || machine?.cloudId !== rented.cloudId) return false
  if (rented.cloud === 'oci') return true
  return machine.rentalId === undefined ? machine.mark === rented.mark : machine.rentalId === rented.id
}

/** Something is rented or about to be, and not an orphan that no offer tells the price of. */
const isPriced = ({ machine, intent, billing }: Instance): boolean =>
  (machine !== undefined || intent !== undefined) && billing !== undefined
