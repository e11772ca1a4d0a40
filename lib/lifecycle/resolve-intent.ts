import type { FindOutcome, LaunchedMachine, Rental } from '../backends/backend.ts'
import type { Context } from '../context.ts'
import { dueAt } from '../model/due.ts'
import type { Instance } from '../model/instance.ts'
import type { Intent } from '../model/intent.ts'
import { formatDollars } from '../model/money.ts'
import { backendOf } from './backend-of.ts'
import { change, growingDelay, hintNext, patient, visitAgain, withEvent, withNews } from './change.ts'
import { prepaidFrom } from './prepaid.ts'
import { alsoGiveUp } from './spending.ts'
import { giveBackStray, strayId } from './stray.ts'

const longestDelayMs = 60_000
const unclearAlarmMs = 300_000
/** A launch lock is prolonged with each look for what came of the launch, and looks are five minutes apart at most. */
export const lockMs = 600_000

/**
 * Finds out what came of a launch whose answer is not known: the machine is adopted, or the intent is closed since
 * nothing exists, or it stays open and is asked about again. There is no second launch while it is open.
 */
export const resolveIntent = async (ctx: Context, instance: Instance): Promise<void> => {
  const rental = rentalOf(instance)
  if (!rental) throw new Error(`instance ${instance.id} has an intent without a place`)
  const { lock } = rental.intent
  const now = ctx.clock.now()
  if (lock !== undefined && !(await ctx.store.takeLock(lock, instance.id, { now, until: now + lockMs })))
    return stayUnclear(ctx, instance, rental.intent, 'another launch in the same team is under way')
  const found: FindOutcome = await backendOf(ctx, instance).find(rental)
  switch (found.outcome) {
    case 'found':
      return recordLaunch(ctx, instance, rental.intent, found.machine, {
        startedAt: rental.intent.writtenAt,
        message: `the launch had worked although its answer was lost: ${found.machine.cloudId} is adopted`,
      })
    case 'absent':
      return closeIntent(
        ctx,
        instance,
        rental.intent,
        `the launch had rented nothing; nothing is charged for it${found.message ? ` (${found.message})` : ''}`,
        // Where the cloud says why, it would say it again.
        { tried: found.message ? [keyOfOffer(rental.intent.offerId, rental.zone)] : [] },
      )
    case 'unclear':
      return stayUnclear(ctx, instance, rental.intent, found.message, found.retryAfterMs)
  }
}

/** The open intent of an instance with the place that it is meant for. */
const rentalOf = ({ intent, region, zone, instanceType }: Instance): Rental | undefined =>
  intent && region !== undefined && instanceType !== undefined
    ? { intent, region, zone, instanceType }
    : undefined

/**
 * Writes down the machine that a launch brought, whatever became of the instance meanwhile: one that is to be
 * terminated keeps that status, and gives the machine back by the rules of its prepaid time.
 */
export const recordLaunch = async (
  ctx: Context,
  known: Instance,
  intent: Intent,
  machine: LaunchedMachine,
  { startedAt, billedFrom, message }: Pick<Launch, 'startedAt' | 'billedFrom' | 'message'>,
): Promise<void> => {
  const launch = { intent, machine, startedAt, billedFrom, message, now: ctx.clock.now() }
  const { instance, changed } = await change(ctx, known, (current) =>
    current.intent?.attempt === intent.attempt ? rented(ctx, current, launch) : undefined,
  )
  if (!changed && instance.machine?.cloudId !== machine.cloudId) {
    await giveBackLate(ctx, known, launch)
  }
  await freeLaunchLock(ctx, instance, intent)
  await hintNext(ctx, instance)
}

/**
 * A launch answered after its intent had been given up (its handler was frozen for minutes). The machine gets a record
 * of its own, whose only way is to its end, by the rules of its prepaid time.
 */
const giveBackLate = async (ctx: Context, known: Instance, launch: Launch): Promise<void> => {
  const id = strayId(known.backend, { ...launch.machine, mark: launch.intent.mark })
  const fresh = {
    id,
    version: 0,
    createdAt: launch.now,
    claim: undefined,
    force: undefined,
    fleet: undefined,
    events: [],
  }
  const stray = rented(ctx, { ...known, ...fresh, intent: launch.intent }, launch)
  await giveBackStray(ctx, stray, `a launch of ${known.id} answered after it had been given up`)
}

/** Closes an intent that rented nothing. `tried` are offers not to be tried again for this request. */
export const closeIntent = async (
  ctx: Context,
  known: Instance,
  intent: Intent,
  message: string,
  { tried = [], delayMs = 0 }: { tried?: string[]; delayMs?: number } = {},
): Promise<void> => {
  const { instance } = await change(
    ctx,
    known,
    (current) => {
      if (current.intent?.attempt !== intent.attempt) return undefined
      const now = ctx.clock.now()
      return {
        ...withEvent(current, now, message),
        intent: undefined,
        ...noPlace,
        tried: [...new Set([...(current.tried ?? []), ...tried])],
        ...dueAt(current, now + delayMs),
      }
    },
    alsoGiveUp(ctx),
  )
  await freeLaunchLock(ctx, instance, intent)
  await hintNext(ctx, instance)
}

/** Keeps an intent open, and says so when it lasts. */
export const stayUnclear = async (
  ctx: Context,
  known: Instance,
  intent: Intent,
  message: string,
  retryAfterMs?: number,
): Promise<void> => {
  const now = ctx.clock.now()
  const unclearSince = intent.unclearSince ?? now
  if (now - unclearSince > unclearAlarmMs) {
    ctx.log.alarm('LaunchUnclear', 'a machine may have been rented and cannot be told; look into the cloud', {
      instanceId: known.id,
      backend: known.backend,
      minutes: Math.round((now - unclearSince) / 60_000),
      mark: intent.mark,
      message,
    })
  }
  const { instance, changed } = await change(ctx, known, (current) => {
    if (current.intent?.attempt !== intent.attempt) return undefined
    const line = `the launch is unclear, nothing else is launched meanwhile: ${message}`
    const told = withNews(current, now, line)
    const delay = patient(growingDelay(current.visits, longestDelayMs), retryAfterMs)
    const again = visitAgain(told, now + delay)
    return { ...again, intent: { ...current.intent, unclearSince } }
  })
  if (changed) await hintNext(ctx, instance)
}

type Launch = {
  intent: Intent
  machine: LaunchedMachine
  startedAt: number
  /** When the call that rented was sent; without it, money is counted from `startedAt`. */
  billedFrom?: number | undefined
  message: string
  now: number
}

const rented = (ctx: Pick<Context, 'backends'>, current: Instance, launch: Launch): Instance => {
  const { intent, machine, startedAt, now } = launch
  const reservation = prepaidFrom(current, startedAt)
  const prepaid = reservation
    ? `, ${formatDollars(reservation.chargeCents)} prepaid until ${new Date(reservation.until).toISOString()}`
    : ''
  const isEnding = current.status === 'terminating'
  const releaseAt = current.force ? now : Math.max(now, reservation?.until ?? 0)
  return {
    ...withEvent(
      current,
      now,
      `${launch.message}${prepaid}`,
      isEnding ? {} : { status: 'provisioning', phase: 'booting' },
    ),
    intent: undefined,
    machine: { ...machine, mark: intent.mark, offer: keyOfOffer(intent.offerId, current.zone) },
    startedAt,
    billing: current.billing && {
      ...current.billing,
      from: current.billing.startsAt === 'launch' ? (launch.billedFrom ?? startedAt) : undefined,
    },
    reservation,
    bootDeadline: now + backendOf(ctx, current).bootDeadlineMs(current.instanceType ?? ''),
    ...(isEnding && { releaseAt }),
    ...dueAt(current, isEnding ? releaseAt : now),
  }
}

const freeLaunchLock = async (ctx: Context, instance: Instance, intent: Intent) => {
  if (intent.lock !== undefined) await ctx.store.freeLock(intent.lock, instance.id)
}

/** How an offer stands in `tried`: alone, or in one of its zones. */
export const keyOfOffer = (offerId: string, zone: string | undefined): string =>
  zone === undefined ? offerId : `${offerId}@${zone}`

/** Without a machine, an instance is nowhere. */
export const noPlace = {
  backend: undefined,
  region: undefined,
  zone: undefined,
  instanceType: undefined,
  resources: undefined,
  pricePerHourCents: undefined,
  minimumReservationMinutes: undefined,
  minimumChargeCents: undefined,
  billing: undefined,
}
