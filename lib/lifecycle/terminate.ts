import type { Billed, MachineRef, MachineState } from '../backends/backend.ts'
import type { Context } from '../context.ts'
import { dueAt, isDue } from '../model/due.ts'
import type { Instance } from '../model/instance.ts'
import { stepOf } from '../model/step.ts'
import { backendOf, refOf } from './backend-of.ts'
import { closedBill } from './billed.ts'
import { change, growingDelay, hintNext, patient, visitAgain, withEvent, withNews } from './change.ts'
import { resolveIntent } from './resolve-intent.ts'
import { alsoSettle } from './spending.ts'

const longestDelayMs = 300_000
const overdueAfterMs = 900_000
/** Hot Aisle's bare metal is prepaid for so long; more is not known of any cloud. */
const longestMinimumMs = 8 * 3_600_000
/** How long a cloud that agreed to take a machine back is left in peace. */
const askAgainAfterMs = 300_000

/**
 * Gives a machine back and proves that it is gone. It never gives up, and never says `terminated` before the cloud
 * shows it. Inside the prepaid time it waits, unless the caller forced it.
 */
export const terminate = async (ctx: Context, id: string): Promise<void> => {
  const instance = await ctx.store.get(id)
  if (!instance || stepOf(instance) !== 'terminate' || !isDue(instance, ctx.clock.now())) return
  // A launch whose outcome is not known may have rented something: that must be known first.
  if (instance.intent) return resolveIntent(ctx, instance)
  const ref = refOf(instance)
  if (!ref) return finish(ctx, instance, 'nothing was rented', {})
  if (ctx.clock.now() < (instance.releaseAt ?? 0)) return later(ctx, instance, instance.releaseAt ?? 0)
  return giveBack(ctx, instance, ref)
}

const giveBack = async (ctx: Context, instance: Instance, ref: MachineRef) => {
  const backend = backendOf(ctx, instance)
  if (instance.releaseAskedAt !== undefined) {
    const seen = await backend.state(ref)
    if (seen.state === 'gone') return finish(ctx, instance, isGone, await backend.billed(ref))
    // It agreed, and wiping takes minutes; not every cloud says that it is at it.
    const isBusyWithIt = ctx.clock.now() - (instance.releasedAt ?? 0) < askAgainAfterMs
    if (seen.state === 'stopping' || isBusyWithIt) return again(ctx, instance, patienceOf(seen))
  }
  const answer = await backend.release(ref, { force: instance.force === true })
  if (answer.outcome === 'too_early') return tooEarly(ctx, instance, answer.message)
  const billing = answer.outcome === 'gone' ? {} : billedUntil(instance, answer.at)
  if (answer.outcome === 'retry') return again(ctx, instance, { ...answer, billing })
  const agreed = { releasedAt: ctx.clock.now(), billing }
  const seen = await backend.state(ref)
  if (seen.state === 'gone') return finish(ctx, instance, isGone, await backend.billed(ref), agreed)
  return again(ctx, instance, { ...agreed, ...patienceOf(seen) })
}

const isGone = 'the cloud shows that the machine is gone'

type Agreed = { releasedAt?: number; billing?: Pick<Instance, 'billing'> }

/** Money runs to the call that gave the machine back, once it is gone; of several, to the last. */
const billedUntil = ({ billing }: Instance, until: number | undefined): Pick<Instance, 'billing'> =>
  billing && until !== undefined ? { billing: { ...billing, until } } : {}

const patienceOf = (seen: MachineState) =>
  seen.state === 'unknown' ? { retryAfterMs: seen.retryAfterMs } : {}

/** Refused inside the minimum: by our clock it is over, or we do not know it. The cloud's clock counts. */
const tooEarly = (ctx: Context, instance: Instance, message: string) => {
  const now = ctx.clock.now()
  const { reservation, startedAt = now } = instance
  const reservedUntil = reservation?.until ?? startedAt + longestMinimumMs
  const pauseMs = reservation ? 60_000 : longestDelayMs
  const when = reservation && reservedUntil > now ? reservedUntil : now + pauseMs
  const askedAt = Math.max(instance.releaseAskedAt ?? now, Math.min(reservedUntil, now))
  alarmIfOverdue(ctx, instance, askedAt, message)
  const line = `not given back yet: ${message}`
  return rewrite(ctx, instance, (current) => ({
    ...visitAgain(withNews(current, now, line), when),
    releaseAt: when,
    releaseAskedAt: askedAt,
  }))
}

const again = async (
  ctx: Context,
  instance: Instance,
  why: Agreed & { message?: string; retryAfterMs?: number | undefined } = {},
) => {
  const now = ctx.clock.now()
  const askedAt = instance.releaseAskedAt ?? now
  alarmIfOverdue(ctx, instance, askedAt, why.message)
  const delay = patient(growingDelay(instance.visits + 1, longestDelayMs), why.retryAfterMs)
  const first = instance.releaseAskedAt === undefined
  const line = why.message
    ? `not given back yet: ${why.message}`
    : first
      ? 'the cloud was asked to take it back'
      : undefined
  await rewrite(ctx, instance, (current) => ({
    ...visitAgain(line ? withNews(current, now, line) : current, now + delay),
    releaseAskedAt: askedAt,
    releasedAt: why.releasedAt ?? current.releasedAt,
    ...why.billing,
  }))
}

const alarmIfOverdue = (ctx: Context, instance: Instance, askedAt: number, last: string | undefined) => {
  const overdueMs = ctx.clock.now() - askedAt
  if (overdueMs <= overdueAfterMs) return
  ctx.log.alarm('ReleaseOverdue', 'a machine was to be given back and still exists; it costs money', {
    instanceId: instance.id,
    cloudId: instance.machine?.cloudId,
    minutes: Math.round(overdueMs / 60_000),
    last,
  })
}

/** The one place that writes `terminated`. */
const finish = (
  ctx: Context,
  instance: Instance,
  proof: string,
  billed: Billed,
  { releasedAt, billing = {} }: Agreed = {},
) => {
  const now = ctx.clock.now()
  return rewrite(
    ctx,
    instance,
    (current) => {
      const { reservation } = current
      const early = reservation !== undefined && reservation.until > now && current.force === true
      return {
        ...withEvent(current, now, proof, { status: 'terminated' }),
        terminatedAt: now,
        releasedAt: current.releasedAt ?? releasedAt,
        billing: closedBill(billing.billing ?? current.billing, billed, now),
        ...(reservation && { reservation: { ...reservation, state: early ? 'forfeited' : 'released' } }),
        nextCheckAt: undefined,
        sweepAt: undefined,
      }
    },
    alsoSettle(ctx),
  )
}

const later = (ctx: Context, instance: Instance, when: number) =>
  rewrite(ctx, instance, (current) => ({
    ...current,
    ...dueAt(current, Math.max(when, current.releaseAt ?? 0)),
  }))

/** Only what is still terminating is written; and only as long as nobody asked for something else meanwhile. */
const rewrite = async (
  ctx: Context,
  known: Instance,
  decide: (current: Instance) => Instance,
  also?: Parameters<typeof change>[3],
) => {
  const { instance, changed } = await change(
    ctx,
    known,
    (current) =>
      current.status === 'terminating' && current.force === known.force ? decide(current) : undefined,
    also,
  )
  if (changed) await hintNext(ctx, instance)
}
