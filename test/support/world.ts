import { createHotAisle } from '../../lib/backends/hotaisle/hot-aisle.ts'
import type { Context } from '../../lib/context.ts'
import { bootstrap } from '../../lib/lifecycle/bootstrap.ts'
import { check } from '../../lib/lifecycle/check.ts'
import { claimInstance, releaseInstance } from '../../lib/lifecycle/claim.ts'
import { createInstance } from '../../lib/lifecycle/create.ts'
import { endByUser } from '../../lib/lifecycle/end.ts'
import { provision } from '../../lib/lifecycle/provision.ts'
import { sweep } from '../../lib/lifecycle/sweep.ts'
import { terminate } from '../../lib/lifecycle/terminate.ts'
import type { Instance } from '../../lib/model/instance.ts'
import type { DeploymentLimits } from '../../lib/model/limits.ts'
import { createRequest } from '../../lib/model/request.ts'
import type { Step } from '../../lib/model/step.ts'
import type { Store } from '../../lib/store/store.ts'
import {
  type SimulatedHotAisle,
  type SimulatedHotAisleOptions,
  startSimulatedHotAisle,
} from '../../sandbox/clouds/hotaisle/simulated-hot-aisle.ts'
import { sshPublicKey } from '../backends/hotaisle-stage.ts'
import { startOciStage } from '../backends/oci-stage.ts'
import { createFakeShim, type FakeShim } from '../fakes/fake-shim.ts'
import { createMachinesInMemory } from '../fakes/machines-in-memory.ts'
import { createManualClock } from '../fakes/manual-clock.ts'
import { countingRandom } from './counting-random.ts'

const minute = 60_000
const stepFunctions: Record<Step, (ctx: Context, id: string) => Promise<void>> = {
  provision,
  bootstrap,
  check,
  terminate,
}

export type World = Awaited<ReturnType<typeof startWorld>>

/**
 * The real lifecycle, store and Hot Aisle backend on a simulated cloud, with a clock that jumps to whatever is next.
 * `hints: 'lost'` loses every message, so that only the sweep works; through `observer` the test looks at the table.
 */
export const startWorld = async (
  store: Store,
  options: {
    cloud?: Partial<SimulatedHotAisleOptions>
    hints?: 'lost'
    bareMetal?: boolean
    observer?: Store
    limits?: DeploymentLimits
    /** With OCI as the second cloud. */
    oci?: boolean
  } = {},
) => {
  const observer = options.observer ?? store
  const clock = createManualClock()
  const machines = createMachinesInMemory()
  const shim: FakeShim = createFakeShim(machines)
  const cloud: SimulatedHotAisle = await startSimulatedHotAisle({ clock, machines, ...options.cloud })
  const oci = options.oci ? await startOciStage({ clock, machines }) : undefined
  const hints: { at: number; step: Step; id: string }[] = []
  const said: string[] = []
  const counted: string[] = []
  const remember = (message: string) => void said.push(message)
  const ctx: Context = {
    settings: {
      idle: { arrival_grace: 10 * minute, gpu_percent: 5 },
      api: { requests_per_second: 20 },
      limits: options.limits ?? {},
    },
    store,
    queues: {
      send: async (step, id, delayMs) => {
        if (options.hints !== 'lost') hints.push({ at: clock.now() + delayMs, step, id })
      },
      // The world calls its steps itself.
      bury: async () => {},
    },
    backends: [
      createHotAisle({
        settings: {
          type: 'hotaisle',
          team_handle: cloud.team,
          creds: { type: 'api_key', api_key: cloud.apiKey },
          bare_metal: options.bareMetal ?? true,
          api_url: cloud.url,
        },
        sshPublicKey,
        clock,
        timeouts: { createMs: 2000 },
      }),
      ...(oci ? [oci.backend] : []),
    ],
    shim,
    clock,
    random: countingRandom(),
    log: {
      info: () => {},
      warn: remember,
      error: remember,
      alarm: (name, message) => remember(`${name}: ${message}`),
      metric: (name, value, of) => void counted.push(`${name} ${of} ${value}`),
    },
    leaseMs: 2 * minute,
  }

  const live = async (): Promise<Instance[]> => (await observer.list({ limit: 100 })).instances

  /** When something is next to be done: the next hint, or without one the sweep that finds what is due. */
  const nextAt = async (): Promise<number | undefined> => {
    if (hints.length > 0) return Math.min(...hints.map(({ at }) => at))
    const dates = (await live()).flatMap(({ sweepAt, nextCheckAt }) =>
      sweepAt === undefined || nextCheckAt === undefined ? [] : Math.max(sweepAt, nextCheckAt),
    )
    if (dates.length === 0) return undefined
    return Math.ceil(Math.max(Math.min(...dates), clock.now()) / minute) * minute
  }

  /** A sweep hands on what is due; where hints get lost, this one's hands are its own. */
  const sweepNow = async () => {
    const found: { step: Step; id: string }[] = []
    const send = async (step: Step, id: string) => void found.push({ step, id })
    await sweep({ ...ctx, queues: { ...ctx.queues, send } })
    for (const { step, id } of found) await stepFunctions[step](ctx, id)
  }

  const takeHints = () => hints.splice(0).filter((hint) => hint.at <= clock.now() || void hints.push(hint))

  /** Does what is due next. False when nothing is left to be done before `until`. */
  const turn = async (until: number): Promise<boolean> => {
    const at = await nextAt()
    if (at === undefined || at > until) return false
    clock.advance(Math.max(0, at - clock.now()))
    const due = takeHints()
    for (const { step, id } of due) await stepFunctions[step](ctx, id)
    if (due.length > 0) return true
    await sweepNow()
    return true
  }

  /** Lets time run, for so many minutes, or until an instance is as wanted. Throws when it never is. */
  const run = async (minutes: number): Promise<void> => {
    const until = clock.now() + minutes * minute
    while (await turn(until));
    clock.advance(Math.max(0, until - clock.now()))
  }

  const runUntil = async (
    id: string,
    reached: (instance: Instance) => boolean,
    minutes = 24 * 60,
  ): Promise<Instance> => {
    const until = clock.now() + minutes * minute
    for (;;) {
      const instance = await show(id)
      if (reached(instance)) return instance
      if (!(await turn(until))) {
        throw new Error(`never so: ${JSON.stringify(instance, null, 1)}`)
      }
    }
  }

  const show = async (id: string): Promise<Instance> => {
    const instance = await observer.get(id)
    if (!instance) throw new Error(`no instance ${id}`)
    return instance
  }

  return {
    ctx,
    clock,
    cloud,
    machines,
    shim,
    /** Every warning and error. */
    said,
    /** Metrics, as `Ended idle_timeout 1`. */
    counted,
    hints,
    run,
    runUntil,
    show,
    live,
    rent: (body: object, caller: { name: string; idempotencyKey?: string } = { name: 'alice' }) =>
      createInstance(ctx, createRequest.parse(body), caller),
    claim: async (id: string, holder: string, hold?: number, sshKeys?: string[]) =>
      claimInstance(ctx, await show(id), { holder, hold, sshKeys }),
    release: async (id: string, holder = 'alice') => releaseInstance(ctx, await show(id), holder),
    remove: async (id: string, force = false) => endByUser(ctx, await show(id), { holder: 'alice', force }),
    /** What runs on an instance's machine. */
    guest: async (id: string) => {
      const { sshPort = 0, hostname } = (await show(id)).machine ?? {}
      const spec = machines.at(sshPort, hostname)
      if (!spec) throw new Error(`instance ${id} has no machine that is on`)
      return shim.guest(spec.id)
    },
    rentals: () => cloud.ledger(),
    stillRented: () => cloud.ledger().filter(({ endedAt }) => endedAt === null),
    requestsTo: (endpoint: string) => cloud.requests.filter((request) => request.endpoint === endpoint),
    oci,
    stop: async () => {
      await cloud.stop()
      await oci?.cloud.stop()
    },
  }
}
