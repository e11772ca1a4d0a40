import type { Context } from '../context.ts'
import { dueAt } from '../model/due.ts'
import type { Instance } from '../model/instance.ts'
import type { TerminationReason } from '../model/status.ts'
import { stepOf } from '../model/step.ts'
import { change, hintNext, withEvent } from './change.ts'
import { alsoRelease } from './spending.ts'

/**
 * The record of an instance that is to end: its claim is over, and its machine goes back when the prepaid time ends,
 * or at once when there is none, the caller forces it, or there is no machine any more.
 */
export const ending = (
  instance: Instance,
  now: number,
  why: { reason: TerminationReason; message: string; force?: boolean },
): Instance => {
  const isGone = why.reason === 'lost' || why.reason === 'interrupted'
  const prepaidUntil = instance.reservation?.state === 'active' && !isGone ? instance.reservation.until : 0
  const releaseAt = why.force ? now : Math.max(now, prepaidUntil)
  return {
    ...withEvent(instance, now, why.message, { status: 'terminating' }),
    claim: undefined,
    terminationReason: why.reason,
    terminationMessage: why.message,
    releaseAt,
    // Nobody gave it back: no call of ours says when its bill ended.
    ...(isGone && instance.billing && { billing: { ...instance.billing, until: now } }),
    ...(why.force && { force: true }),
    // An open intent is looked into at once: what it rented must be known, whenever it may be given back.
    ...dueAt(instance, instance.intent ? now : releaseAt),
  }
}

/** Ends an instance for a reason that is not its user's, unless it is ending already; `also` is written with it. */
export const end = async (
  ctx: Context,
  known: Instance,
  why: { reason: TerminationReason; message: string },
  also: Partial<Pick<Instance, 'hardware'>> = {},
): Promise<void> => {
  const decide = (current: Instance): Instance | undefined =>
    // What was seen for one step says nothing once another handler has taken the instance further.
    stepOf(current) !== stepOf(known) || current.intent?.attempt !== known.intent?.attempt
      ? undefined
      : { ...ending(current, ctx.clock.now(), why), ...also }
  const { instance, changed } = await change(ctx, known, decide, alsoRelease(ctx))
  if (changed) await hintNext(ctx, instance)
}

/**
 * `DELETE /instances/{id}`: inside the prepaid time it waits for its end, unless `force`, which can also be said
 * later. What is on its way out, or gone, stays as it is.
 */
export const endByUser = async (
  ctx: Context,
  known: Instance,
  by: { holder: string; force: boolean },
): Promise<Instance> => {
  const decide = (current: Instance): Instance | undefined => {
    const now = ctx.clock.now()
    if (current.status === 'terminated') return undefined
    if (current.status !== 'terminating') {
      const message = by.force ? `terminated by ${by.holder}, by force` : `terminated by ${by.holder}`
      return ending(current, now, { reason: 'terminated_by_user', message, force: by.force })
    }
    if (!by.force || current.force) return undefined
    const forced = withEvent(current, now, `${by.holder} forces the release`)
    return { ...forced, force: true, releaseAt: now, ...dueAt(current, now) }
  }
  const { instance, changed } = await change(ctx, known, decide, alsoRelease(ctx))
  if (changed) await hintNext(ctx, instance)
  return instance
}
