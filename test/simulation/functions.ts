import type { Backend } from '../../lib/backends/backend.ts'
import type { Surroundings } from '../../lib/backends/index.ts'
import type { Context } from '../../lib/context.ts'
import { messageOf } from '../../lib/model/errors.ts'
import type { DeploymentLimits } from '../../lib/model/limits.ts'
import type { Queues } from '../../lib/queues/queues.ts'
import type { Shim } from '../../lib/shim/shim.ts'
import type { Store } from '../../lib/store/store.ts'
import { sshPublicKey } from '../backends/hotaisle-stage.ts'
import type { Dice } from '../support/dice.ts'
import type { Faults } from './faults.ts'
import { faultyShim } from './faulty-shim.ts'
import { faultyStore } from './faulty-store.ts'
import type { Call } from './network.ts'
import type { Timeline } from './timeline.ts'

/** One invocation of a function. */
export type Run = {
  what: string
  instanceId: string | undefined
  state: 'running' | 'ended' | 'dead'
  die(why: string): void
}

export type Outcome<Value> =
  | { outcome: 'done'; value: Value }
  | { outcome: 'failed'; error: unknown }
  | { outcome: 'died' }

type Container = { run: Run | undefined; skewMs: number }
type Warm = { container: Container; ctx: Context }

export type Functions = ReturnType<typeof createFunctions>

/** Functions end after 100 s, as on AWS; `leaseMs` follows from it. */
const timeOutMs = 100_000
const leaseMs = 120_000
/** What clocks of AWS differ by at most here, in milliseconds. */
const longestSkewMs = 5000

/**
 * Lambda: functions run in containers that stay warm, one invocation at a time in each. One can die at every call to
 * something outside, and then simply never goes on; what it had sent still arrives.
 */
export const createFunctions = (parts: {
  timeline: Timeline
  dice: Dice
  faults: Faults
  store: Store
  shim: Shim
  queues: Queues
  createBackends: (surroundings: Surroundings) => Backend[]
  limits: DeploymentLimits
  /** The way to each cloud for a container. */
  fetchFor: (call: Call, current: () => Run | undefined) => typeof fetch
  tell: (line: string) => void
}) => {
  const { timeline, dice, faults, tell } = parts
  const warm: Warm[] = []

  const newContainer = (): Warm => {
    const container: Container = { run: undefined, skewMs: dice.int(-longestSkewMs, longestSkewMs) }
    const clock = { now: () => timeline.now() + container.skewMs }
    const call: Call = async (name, effect) => {
      const { run } = container
      const isSlow = name.includes(' ') && !name.includes('table')
      await timeline.sleep(dice.int(1, isSlow ? 400 : 8))
      const settled = await effect().then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      )
      await timeline.sleep(dice.int(1, isSlow ? 400 : 8))
      if (run?.state === 'dead') return never()
      if (faults.strikes(`crash after ${name}`)) {
        run?.die(`crash after ${name}`)
        return never()
      }
      if ('error' in settled) throw settled.error
      return settled.value
    }
    const say =
      (level: string) =>
      (message: string, fields: Record<string, unknown> = {}) =>
        tell(`  ${level} ${fields.instanceId ?? ''} ${message}${fields.error ? ` (${fields.error})` : ''}`)
    const ctx: Context = {
      settings: {
        idle: { arrival_grace: 600_000, gpu_percent: 5 },
        api: { requests_per_second: 20 },
        limits: parts.limits,
      },
      store: faultyStore(parts.store, call, faults),
      queues: {
        send: (step, id, delayMs) => call('message', () => parts.queues.send(step, id, delayMs)),
        bury: (letter) => call('message', () => parts.queues.bury(letter)),
      },
      backends: parts.createBackends({
        sshPublicKey,
        userData: async () => '#!/bin/sh\n',
        catalogues: faultyStore(parts.store, call, faults).catalogues,
        clock,
        fetch: parts.fetchFor(call, () => container.run),
      }),
      shim: faultyShim(parts.shim, { call, faults, timeline }),
      clock,
      random: { hex: dice.hex },
      log: {
        info: () => {},
        warn: say('warning'),
        error: say('error'),
        alarm: (name, message, fields) => say(`ALARM ${name}`)(message, fields),
        metric: () => {},
      },
      leaseMs,
    }
    return { container, ctx }
  }

  /** A clock of AWS is set right, a little or more than a little. */
  const stepClock = (container: Container) => {
    if (faults.strikes('clock: forward')) container.skewMs = dice.int(0, longestSkewMs)
    if (faults.strikes('clock: back')) container.skewMs = dice.int(-longestSkewMs, 0)
  }

  return {
    invoke: <Value>(
      what: string,
      instanceId: string | undefined,
      work: (ctx: Context) => Promise<Value>,
    ): Promise<Outcome<Value>> =>
      new Promise((resolve) => {
        const used = (faults.strikes('function: cold start') ? undefined : warm.pop()) ?? newContainer()
        const { container, ctx } = used
        stepClock(container)
        const run: Run = {
          what,
          instanceId,
          state: 'running',
          die: (why) => {
            if (run.state !== 'running') return
            run.state = 'dead'
            tell(`DIED ${what} ${instanceId ?? ''}: ${why}`)
            resolve({ outcome: 'died' })
          },
        }
        container.run = run
        tell(`RUN  ${what} ${instanceId ?? ''}`)
        const end = (outcome: Outcome<Value>) => {
          if (run.state !== 'running') return
          run.state = 'ended'
          warm.push(used)
          if (outcome.outcome === 'failed')
            tell(`FAIL ${what} ${instanceId ?? ''}: ${messageOf(outcome.error)}`)
          resolve(outcome)
        }
        timeline.at(timeline.now() + timeOutMs, () => run.die('time-out'))
        work(ctx).then(
          (value) => end({ outcome: 'done', value }),
          (error: unknown) => end({ outcome: 'failed', error }),
        )
      }),
  }
}

const never = () => new Promise<never>(() => {})
