import type { Context } from '../context.ts'
import { dueAt } from '../model/due.ts'
import { messageOf } from '../model/errors.ts'
import type { Instance } from '../model/instance.ts'
import { mayBecome, type Phase, type Status } from '../model/status.ts'
import { stepOf } from '../model/step.ts'
import { longestDelayMs } from '../queues/queues.ts'
import type { Also } from '../store/store.ts'

/** Those that change what is committed meet everyone who does. */
const mostTries = 24

/**
 * Writes one change of an instance. `decide` gets the record as it stands and returns the next one, or undefined for
 * "nothing to do"; when somebody else wrote in between it is asked again with what they wrote. So each rule sees the
 * truth, and of two that exclude each other one wins. Returns what stands now, and whether this call changed it.
 * `also` says what is to be written with it, and may throw where that must not be; when that is what somebody else has
 * changed, nothing is written.
 */
export const change = async (
  ctx: Pick<Context, 'store' | 'log'>,
  known: Instance,
  decide: (current: Instance) => Instance | undefined,
  also: (current: Instance, next: Instance) => Promise<Also> = async () => ({}),
): Promise<{ instance: Instance; changed: boolean }> => {
  let current = known
  for (let tries = 0; tries < mostTries; tries++) {
    const next = decide(current)
    if (next === undefined) return { instance: current, changed: false }
    if (!mayBecome(current.status, next.status)) {
      throw new Error(`instance ${current.id} cannot go from ${current.status} to ${next.status}`)
    }
    const together = await also(current, next)
    const written = await ctx.store.update(current, next, together)
    if (written) {
      tell(ctx, current, written)
      count(ctx, current, written)
      return { instance: written, changed: true }
    }
    const reread = await ctx.store.get(current.id)
    if (!reread) throw new Error(`instance ${current.id} vanished from the table`)
    if (together.fleet && reread.version === current.version) return { instance: reread, changed: false }
    current = reread
  }
  throw new Error(`instance ${known.id} was changed by others ${mostTries} times in a row`)
}

/** The record with one more line of history, and its new status and phase if they change. */
export const withEvent = (
  instance: Instance,
  now: number,
  message: string,
  to: { status?: Status; phase?: Phase | undefined } = {},
): Instance => {
  const status = to.status ?? instance.status
  const phase = status === 'provisioning' ? (to.phase ?? instance.phase) : undefined
  const moved = status !== instance.status || phase !== instance.phase
  return {
    ...instance,
    status,
    phase,
    visits: moved ? 0 : instance.visits,
    events: [...instance.events, { at: now, status, ...(phase && { phase }), message }],
  }
}

/** The record with one more line of history, unless that is what the last one says already. */
export const withNews = (instance: Instance, now: number, message: string): Instance =>
  instance.events.at(-1)?.message === message ? instance : withEvent(instance, now, message)

/** Makes the instance the caller's for the length of a lease: until then every other hint is dropped. */
export const leased = (ctx: Pick<Context, 'clock' | 'leaseMs'>, instance: Instance): Instance => ({
  ...instance,
  ...dueAt(instance, ctx.clock.now() + ctx.leaseMs),
})

/** Sets the time of the next step, and counts this visit. */
export const visitAgain = (instance: Instance, when: number): Instance => ({
  ...instance,
  visits: instance.visits + 1,
  ...dueAt(instance, when),
})

/**
 * Sends the hint for an instance's next step. A hint that can't be sent is no failure: the sweep finds the instance
 * all the same, a minute later.
 */
export const hintNext = async (
  ctx: Pick<Context, 'queues' | 'clock' | 'log'>,
  instance: Instance,
): Promise<void> => {
  const step = stepOf(instance)
  if (step === undefined || instance.nextCheckAt === undefined) return
  const delay = Math.max(0, instance.nextCheckAt - ctx.clock.now())
  if (delay > longestDelayMs) return
  try {
    await ctx.queues.send(step, instance.id, delay)
  } catch (error) {
    ctx.log.warn('a hint could not be sent; the sweep will find the instance', {
      instanceId: instance.id,
      step,
      error: messageOf(error),
    })
  }
}

/** Delay before the next look, in milliseconds: from 1 s, growing by 1.6 with each visit, up to `cap`. */
export const growingDelay = (visits: number, cap: number): number =>
  Math.min(cap, Math.round(1000 * 1.6 ** visits))

/** A cloud may ask for hours of peace, while a machine costs money or somebody waits for one. */
const longestPeaceMs = 300_000

/** A delay that is no shorter than its cloud asked for, within reason. */
export const patient = (delayMs: number, retryAfterMs: number | undefined): number =>
  Math.max(delayMs, Math.min(retryAfterMs ?? 0, longestPeaceMs))

const tell = (ctx: Pick<Context, 'log'>, before: Instance, after: Instance) => {
  const known = before.events.at(-1)
  for (const event of after.events.slice(after.events.findLastIndex((line) => isSame(line, known)) + 1)) {
    ctx.log.info(event.message, { instanceId: after.id, status: event.status, phase: event.phase })
  }
}

const count = ({ log }: Pick<Context, 'log'>, before: Instance, after: Instance) => {
  const at = after.events.at(-1)?.at
  const { status, backend, terminationReason } = after
  if (before.status === 'provisioning' && (status === 'idle' || status === 'busy') && backend && at) {
    log.metric('SecondsToReady', (at - after.createdAt) / 1000, backend)
  }
  if (before.status !== 'terminated' && status === 'terminated' && terminationReason) {
    log.metric('Ended', 1, terminationReason)
  }
}

const isSame = (line: Instance['events'][number], other: Instance['events'][number] | undefined) =>
  other !== undefined && line.at === other.at && line.message === other.message
