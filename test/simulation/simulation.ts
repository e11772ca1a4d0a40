import { createHash } from 'node:crypto'
import { loadBackends } from '../../lib/backends/index.ts'
import { loadSdk } from '../../lib/backends/oci/sdk.ts'
import { bootstrap } from '../../lib/lifecycle/bootstrap.ts'
import { check } from '../../lib/lifecycle/check.ts'
import { keepFleets } from '../../lib/lifecycle/keep-fleets.ts'
import { provision } from '../../lib/lifecycle/provision.ts'
import { reconcile } from '../../lib/lifecycle/reconcile.ts'
import { sweep } from '../../lib/lifecycle/sweep.ts'
import { terminate } from '../../lib/lifecycle/terminate.ts'
import type { Fleet } from '../../lib/model/fleet.ts'
import type { Instance } from '../../lib/model/instance.ts'
import type { Step } from '../../lib/model/step.ts'
import { fetchFrom } from '../../sandbox/clouds/fetch-from.ts'
import { createMemoryStore } from '../fakes/memory-store.ts'
import { createDice } from '../support/dice.ts'
import { createClouds, withoutKey } from './clouds.ts'
import { type Cloud, createFaults } from './faults.ts'
import { createFunctions, type Run } from './functions.ts'
import { createGuests } from './guests.ts'
import { createLimits } from './limits.ts'
import { createMessages } from './messages.ts'
import { createMishaps } from './mishaps.ts'
import { type Call, createNetwork } from './network.ts'
import { createPromises } from './promises.ts'
import { createTimeline } from './timeline.ts'
import { createUsers } from './users.ts'

export type Result = {
  seed: number
  requests: number
  violations: string[]
  hits: ReadonlyMap<string, number>
  machines: number
  /** Of everything that happened: equal for equal runs. */
  digest: string
}

const minuteMs = 60_000
const start = Date.UTC(2030, 0, 1)
/** By when everything rests after the faults have stopped: bare metal may take an hour, twice, after half an hour's search. */
const restMs = 165 * minuteMs
/** And what reconcile takes for an orphan, which has no record that could be looked at. */
const leastRestMs = 30 * minuteMs
/** Longer than any prepaid time. */
const endMs = 660 * minuteMs

const steps = { provision, bootstrap, check, terminate }

/**
 * One run: the real lifecycle and backends, both simulated clouds, a store in memory, and everything that can go wrong.
 * The same seed does the same. `tell` hears the history.
 */
export const simulate = async (seed: number, tell: (line: string) => void = () => {}): Promise<Result> => {
  // What is loaded from disk takes real time, in which simulated time must not go on.
  await loadSdk()
  const dice = createDice(seed)
  const timeline = createTimeline(start)
  const digest = createHash('sha256')
  const told = (line: string) => {
    const stamped = `${new Date(timeline.now()).toISOString().slice(8, 23)} ${withoutKey(line)}`
    digest.update(stamped)
    tell(stamped)
  }
  const faults = createFaults(dice, told)
  // By a die of their own, so that the runs of a seed are what they were without limits.
  const { limits, keyLimits } = createLimits(createDice(seed + 1_000_000))
  const clouds = await createClouds({ timeline, dice })
  const createBackends = await loadBackends(clouds.settings)
  const guests = createGuests({ machines: clouds.machines, timeline })
  const records = new Map<string, Instance>()
  const fleets = new Map<string, Fleet>()
  const promises = createPromises({
    timeline,
    clouds,
    records: () => [...records.values()],
    fleets: () => [...fleets.values()],
    inUseSince: guests.inUseSince,
    limits,
    keyLimits,
    tell: told,
  })
  const store = createMemoryStore({
    random: { hex: dice.hex },
    clock: timeline,
    indexLagMs: () =>
      faults.strikes('table: index far behind') ? dice.int(5000, 120_000) : dice.int(0, 500),
    onSpend: (after) => promises.committed(after),
    onWrite: (before, after) => {
      records.set(after.id, after)
      promises.written(before, after)
    },
    onFleet: (before, after) => {
      promises.fleetWritten(before, after)
      if (after) fleets.set(after.name, after)
      else if (before) fleets.delete(before.name)
    },
  })
  await store.catalogues.put('oci', clouds.catalogue)
  for (const [name, own] of Object.entries(keyLimits))
    await store.addApiKey({ hash: name, name, role: 'operator', createdAt: 0, limits: own })

  const reach = { hotaisle: fetchFrom(clouds.hotaisle.gateway), oci: fetchFrom(clouds.oci.gateway) }
  const mishaps = createMishaps({
    timeline,
    dice,
    faults,
    clouds,
    guests,
    promises,
    reach,
    owner: store.owner,
    tell: told,
  })
  const networkTo = (cloud: Cloud, call: Call, current: () => Run | undefined) => {
    const witness = promises.witness(cloud)
    return createNetwork({
      cloud,
      reach: reach[cloud],
      current,
      witness: (request, reached) => {
        if (request.purpose === 'launch')
          mishaps.beforeLaunch(cloud, request.url.pathname.includes('bare_metal'))
        return witness(request, reached)
      },
      call,
      faults,
      dice,
      timeline,
    })
  }
  const handle = async (step: Step, id: string) =>
    (await functions.invoke(step, id, (ctx) => steps[step](ctx, id))).outcome === 'done'
  const allLost = dice.chance(0.2)
  const messages = createMessages({ timeline, dice, faults, allLost, handle })
  const functions = createFunctions({
    timeline,
    dice,
    faults,
    store,
    shim: guests.shim,
    queues: messages.queues,
    createBackends,
    limits,
    fetchFor: (call, current) => {
      const to = { hotaisle: networkTo('hotaisle', call, current), oci: networkTo('oci', call, current) }
      return (input, init) => to[String(input).startsWith('http://oci/') ? 'oci' : 'hotaisle'](input, init)
    },
    tell: told,
  })

  const every = (ms: number, work: () => void) => {
    const again = () => {
      if (!faults.strikes('schedule: skipped')) work()
      timeline.at(timeline.now() + ms, again)
    }
    timeline.at(timeline.now() + ms, again)
  }
  every(
    minuteMs,
    () =>
      void functions.invoke('sweep', undefined, async (ctx) => {
        await sweep(allLost ? { ...ctx, queues: messages.surely } : ctx)
        await keepFleets(ctx)
      }),
  )

  every(5 * minuteMs, () => void functions.invoke('reconcile', undefined, reconcile))

  const isOver = () => promises.violations.length > 0
  const run = async (ms: number, done: () => boolean) => {
    const until = timeline.now() + ms
    while (timeline.now() < until && !isOver() && !done())
      await timeline.run(Math.min(until, timeline.now() + 5 * minuteMs), () => {})
  }
  const requests = dice.chance(0.92) ? dice.int(1, 5) : dice.int(6, 30)
  const users = createUsers({
    timeline,
    dice,
    functions,
    promises,
    guests,
    records: () => [...records.values()],
    fleets: () => [...fleets.values()],
    tell: told,
  })
  const fleetCount = dice.chance(0.4) ? dice.int(1, 2) : 0
  told(`SEED ${seed}: ${requests} requests, ${fleetCount} fleets${allLost ? ', every message lost' : ''}`)
  const comeOverMs = dice.int(1, 60) * minuteMs
  users.come(requests, comeOverMs)
  users.keepFleets(fleetCount, comeOverMs)
  mishaps.start()
  await run(dice.int(45, 150) * minuteMs, () => false)
  told('REST faults stop')
  faults.stop()
  mishaps.stop()
  await run(leastRestMs, () => false)
  await run(restMs - leastRestMs, promises.isAtRest)
  if (!isOver()) promises.atRest(await store.spend())
  told('END  everything is given up')
  users.removeAll()
  const isAllGone = () =>
    fleets.size === 0 && [...records.values()].every(({ status }) => status === 'terminated')
  await run(endMs, isAllGone)
  // What a write that nobody counted left behind is put right by the next reconcile.
  await run(11 * minuteMs, () => false)
  if (!isOver()) promises.atEnd(await store.spend())
  return {
    seed,
    requests,
    violations: promises.violations,
    hits: faults.hits(),
    machines: clouds.rented('hotaisle').length + clouds.rented('oci').length,
    digest: digest.digest('hex'),
  }
}
