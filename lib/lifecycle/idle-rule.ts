import { type Activity, activityOf } from '../model/activity.ts'
import { dueAt } from '../model/due.ts'
import type { Instance } from '../model/instance.ts'
import { formatSpan } from '../model/span.ts'
import { patient, withEvent } from './change.ts'
import { released } from './claim.ts'
import { ending } from './end.ts'
import type { Seat } from './fleet-seat.ts'

/** How often a machine in service is looked at, in milliseconds. */
const usualPauseMs = 60_000
/** And how often when nothing can change soon: prepaid and unclaimed, or held. */
const longPauseMs = 300_000
const unreachableLimitMs = 1_200_000

export type IdleSettings = { arrival_grace: number; gpu_percent: number }

/**
 * What a look at a machine brought: what it does, or why it could not be seen; and then, how long its cloud, which was
 * asked about it, wants to be left in peace.
 */
export type Look = { seen: Activity } | { unseen: string; retryAfterMs?: number | undefined }

/**
 * What becomes of a machine in service after a look at it: pure, so that each rule can be read and proved alone.
 * The times are those of the server's clock; nothing active, claimed or prepaid is ended by idleness, and what can't
 * be seen counts as active, with a deadline of its own. A fleet's node goes only when its fleet, asked for its `seat`,
 * lets it.
 */
export const afterLook = (
  instance: Instance,
  look: Look,
  now: number,
  settings: IdleSettings,
  seat?: Seat,
): Instance => {
  const outlived = pastMaxDuration(instance, now)
  if (outlived) return outlived
  if ('unseen' in look) return unseen(instance, look, now)
  const reached = reachable(instance, now)
  const activity = activityOf(look.seen, settings.gpu_percent)
  if (activity !== undefined) return active(reached, activity, now)
  return reached.status === 'busy' ? quiet(reached, now, settings) : idle(reached, now, seat)
}

/**
 * The record of an instance whose `max_duration` is over, whatever it does and whether or not it can be seen. One that
 * nobody has stays while it is prepaid: it costs nothing more, and who asks next gets what is paid for.
 */
export const pastMaxDuration = (instance: Instance, now: number): Instance | undefined => {
  if (now < (maxEnd(instance) ?? Number.POSITIVE_INFINITY)) return undefined
  if (instance.status === 'idle' && now < (instance.reservation?.until ?? 0)) return undefined
  const message = `max_duration of ${formatSpan(instance.maxDuration)} is over`
  return ending(instance, now, { reason: 'max_duration', message })
}

/** Sets when a machine in service is looked at next: at the first moment at which a rule could speak. */
export const nextCheck = (instance: Instance, now: number, retryAfterMs?: number): Instance => {
  const isSettled = instance.unreachableSince === undefined && quietUntil(instance) > now + longPauseMs
  const times = [now + patient(isSettled ? longPauseMs : usualPauseMs, retryAfterMs)]
  const moments = [
    idleEnd(instance),
    instance.reservation?.until,
    instance.claim?.holdUntil,
    maxEnd(instance),
    instance.unreachableSince === undefined ? undefined : instance.unreachableSince + unreachableLimitMs,
  ]
  times.push(...moments.filter((time) => time !== undefined).filter((time) => time > now))
  return { ...instance, ...dueAt(instance, Math.min(...times)) }
}

const unseen = (
  instance: Instance,
  { unseen: why, retryAfterMs }: Extract<Look, { unseen: string }>,
  now: number,
): Instance => {
  // Looks far apart (Berth itself was off) prove nothing of the time between them: it is counted anew.
  const isGap = now - (instance.lastActivityAt ?? 0) > 2 * longPauseMs
  const since = isGap ? now : (instance.unreachableSince ?? now)
  if (now - since >= unreachableLimitMs) {
    const message = `not reachable for ${Math.round((now - since) / 60_000)} minutes: ${why}`
    return ending(instance, now, { reason: 'unreachable', message })
  }
  const told =
    instance.unreachableSince === undefined ? withEvent(instance, now, `not reachable: ${why}`) : instance
  return nextCheck({ ...told, unreachableSince: since, lastActivityAt: now }, now, retryAfterMs)
}

const reachable = (instance: Instance, now: number): Instance =>
  instance.unreachableSince === undefined
    ? instance
    : { ...withEvent(instance, now, 'reachable again'), unreachableSince: undefined }

const active = (instance: Instance, activity: string, now: number): Instance => {
  const first = instance.claim && !instance.claim.active
  const told = first ? withEvent(instance, now, `in use: ${activity}`) : instance
  return nextCheck(
    { ...told, lastActivityAt: now, ...(told.claim && { claim: { ...told.claim, active: true } }) },
    now,
  )
}

/** Claimed and without activity: the claim lapses when its hold, its arrival grace and the idle duration are over. */
const quiet = (instance: Instance, now: number, settings: IdleSettings): Instance => {
  const { claim, idleDuration } = instance
  if (!claim || idleDuration === 'off') return nextCheck(instance, now)
  const idleSince = Math.max(claim.since, instance.lastActivityAt ?? 0)
  const grace = claim.active ? 0 : claim.since + settings.arrival_grace
  const lapsesAt = Math.max(idleSince + idleDuration, grace, claim.holdUntil ?? 0)
  if (now < lapsesAt) {
    const waiting = nextCheck(instance, now)
    return { ...waiting, ...dueAt(instance, Math.min(waiting.nextCheckAt ?? lapsesAt, lapsesAt)) }
  }
  const message = claim.active
    ? `the claim of ${claim.holder} lapsed: no activity for ${formatSpan(idleDuration)}`
    : `the claim of ${claim.holder} lapsed: nobody came`
  return released(instance, now, message, idleSince)
}

/** Unclaimed and without activity: given back after the idle duration, but not while it is prepaid. */
const idle = (instance: Instance, now: number, seat: Seat | undefined): Instance => {
  const over = idleEnd(instance)
  if (over === undefined || now < over) return nextCheck(instance, now)
  const reservedUntil = instance.reservation?.until ?? 0
  if (now < reservedUntil)
    return kept(instance, now, `idle, and kept: prepaid until ${new Date(reservedUntil).toISOString()}`)
  if (instance.fleet !== undefined && seat === undefined) return nextCheck(instance, now)
  if (seat && 'keeps' in seat) {
    const stays = kept(instance, now, seat.keeps)
    return { ...stays, ...dueAt(instance, now + longPauseMs) }
  }
  const spent = instance.idleDuration === 'off' ? '' : ` for ${formatSpan(instance.idleDuration)}`
  return ending(instance, now, {
    reason: 'idle_timeout',
    message: `idle${spent}, and nothing prepaid is left`,
  })
}

const kept = (instance: Instance, now: number, line: string): Instance => {
  const isTold = instance.events.some(
    ({ at, message }) => message === line && at >= (instance.idleSince ?? 0),
  )
  return nextCheck(isTold ? instance : withEvent(instance, now, line), now)
}

/** Whether nothing but its fleet, if it has one, keeps a machine that is seen to do nothing. */
export const isIdleOver = (instance: Instance, now: number): boolean =>
  now >= Math.max(idleEnd(instance) ?? Number.POSITIVE_INFINITY, instance.reservation?.until ?? 0)

/** When the idle duration of an unclaimed machine is over. */
const idleEnd = ({ status, idleDuration, idleSince, lastActivityAt }: Instance): number | undefined =>
  status === 'idle' && idleDuration !== 'off'
    ? Math.max(idleSince ?? 0, lastActivityAt ?? 0) + idleDuration
    : undefined

const maxEnd = ({ maxDuration, maxDurationSince, startedAt }: Instance): number | undefined => {
  const since = maxDurationSince ?? startedAt
  return maxDuration === 'off' || since === undefined ? undefined : since + maxDuration
}

/** Until when no rule of idleness can end anything, whatever a look brings. */
const quietUntil = (instance: Instance): number =>
  instance.status === 'busy'
    ? (instance.claim?.holdUntil ?? 0)
    : instance.idleDuration === 'off'
      ? Number.POSITIVE_INFINITY
      : (instance.reservation?.until ?? 0)
