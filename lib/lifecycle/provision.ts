import type { LaunchOutcome, Rental } from '../backends/backend.ts'
import type { Context } from '../context.ts'
import { isDue } from '../model/due.ts'
import type { Instance } from '../model/instance.ts'
import type { Intent } from '../model/intent.ts'
import { formatMark } from '../model/mark.ts'
import { formatDollars } from '../model/money.ts'
import type { Offer, OfferError } from '../model/offer.ts'
import { formatRequirements } from '../model/requirements.ts'
import type { Excess } from '../model/spend.ts'
import { stepOf } from '../model/step.ts'
import { backendOf } from './backend-of.ts'
import { change, growingDelay, hintNext, leased, patient, visitAgain, withEvent, withNews } from './change.ts'
import { end } from './end.ts'
import { gatherOffers } from './offers.ts'
import {
  closeIntent,
  keyOfOffer,
  lockMs,
  recordLaunch,
  resolveIntent,
  stayUnclear,
} from './resolve-intent.ts'
import { allowanceOf, alsoCommit, excessFor, OverLimit } from './spending.ts'

/** How long a request looks for a machine before it ends: by then every offer has been tried more than once. */
const searchLimitMs = 1_800_000
/** How long backends may fail to answer before that counts as having no offers. */
const silenceLimitMs = 300_000
/** How long a backend that does not judge a launch is asked again while another offer is left, and how late at most. */
const patienceMs = 600_000
const longestThrottleMs = 300_000

/** Rents one machine for an instance, or finds out what came of an earlier try; at most one paid call each time. */
export const provision = async (ctx: Context, id: string): Promise<void> => {
  const instance = await ctx.store.get(id)
  if (!instance || stepOf(instance) !== 'provision' || !isDue(instance, ctx.clock.now())) return
  if (instance.intent) return resolveIntent(ctx, instance)
  if (ctx.clock.now() - instance.createdAt > searchLimitMs) {
    const message = `no machine could be had within ${searchLimitMs / 60_000} minutes; nothing is charged`
    return end(ctx, instance, { reason: 'provisioning_timeout', message })
  }

  const gathered = await gatherOffers(ctx, instance.wanted)
  const { errors, seen } = gathered
  const { offers, excess } = await withinLimits(ctx, instance, gathered.offers)
  const choice = choose(offers, instance.tried ?? [])
  if (choice) {
    const isLast = choose(offers, [...(instance.tried ?? []), choice.key]) === undefined
    return rent(ctx, instance, { ...choice, isLast })
  }
  const silent = errors.filter(({ code }) => code === 'no_answer')
  if (silent.length > 0 && ctx.clock.now() - instance.createdAt < silenceLimitMs) {
    // One that said no time may answer at once.
    const soonest = Math.min(...silent.map(({ retryAfterMs = 0 }) => retryAfterMs))
    return waitFor(ctx, instance, `a backend does not answer: ${wordsOf(errors)}`, soonest)
  }
  return end(ctx, instance, {
    reason: 'no_offers',
    message: noOffers(instance, { offers, errors, seen, excess }),
  })
}

/** The offers that every limit has room for, and why the first of the others has none. */
const withinLimits = async (
  ctx: Context,
  instance: Instance,
  offers: Offer[],
): Promise<{ offers: Offer[]; excess?: Excess | undefined }> => {
  const allowance = await allowanceOf(ctx, instance.claim?.holder ?? instance.createdBy)
  if (!allowance) return { offers }
  const now = ctx.clock.now()
  const judged = offers.map((offer) => ({ offer, excess: excessFor(allowance, instance, offer, now) }))
  return {
    offers: judged.flatMap(({ offer, excess }) => (excess ? [] : [offer])),
    excess: judged.find(({ excess }) => excess)?.excess,
  }
}

type Choice = { offer: Offer; zone: string | undefined; key: string }
type Try = Choice & { isLast: boolean }

/** The best offer that was not tried, zone by zone. */
const choose = (offers: Offer[], tried: string[]): Choice | undefined =>
  offers
    .filter(({ availability }) => availability === 'available' || availability === 'unknown')
    .flatMap((offer): Choice[] =>
      offer.zones.length === 0
        ? [{ offer, zone: undefined, key: offer.id }]
        : offer.zones.map((zone) => ({ offer, zone, key: keyOfOffer(offer.id, zone) })),
    )
    .find(
      ({ offer, key }) =>
        !tried.includes(key) && !tried.includes(offer.id) && !tried.includes(wholeBackend(offer.backend)),
    )

const rent = async (ctx: Context, instance: Instance, choice: Try): Promise<void> => {
  const { offer, zone } = choice
  const backend = backendOf(ctx, { ...instance, backend: offer.backend })
  const lock = backend.launchLock(offer)
  const now = ctx.clock.now()
  if (lock !== undefined && !(await ctx.store.takeLock(lock, instance.id, { now, until: now + lockMs }))) {
    return waitFor(ctx, instance, 'another launch in the same team is under way')
  }
  const prepared = await backend.prepare(offer)
  const intent =
    'failed' in prepared
      ? undefined
      : await newIntent(ctx, instance, choice, { lock, existing: prepared.existing })
  let overLimit: OverLimit | undefined
  // Only whoever wrote the intent may launch: a double of this message finds the record changed.
  const written =
    intent &&
    (await change(
      ctx,
      instance,
      (current) =>
        current.version === instance.version ? intended(ctx, current, choice, intent) : undefined,
      alsoCommit(ctx),
    ).catch(async (error: unknown) => {
      if (!(error instanceof OverLimit)) throw error
      // Others were quicker; the next visit finds what still fits.
      overLimit = error
      return undefined
    }))
  if (!intent || !written?.changed) {
    // The lock is the instance's: a double of this message may be launching under it.
    const stands = written?.instance ?? (await ctx.store.get(instance.id))
    if (lock !== undefined && !stands?.intent) await ctx.store.freeLock(lock, instance.id)
    if ('failed' in prepared) {
      const why = `the existing machines of ${offer.backend} could not be listed: ${prepared.failed}`
      await waitFor(ctx, instance, why, prepared.retryAfterMs)
    }
    if (overLimit) await waitFor(ctx, instance, overLimit.message)
    return
  }
  const rental: Rental = { intent, region: offer.region, zone, instanceType: offer.instanceType }
  await settle(ctx, written.instance, choice, intent, await backend.launch(rental))
}

/** Writes down what a launch answered. */
const settle = (
  ctx: Context,
  instance: Instance,
  choice: Try,
  intent: Intent,
  answer: LaunchOutcome,
): Promise<void> => {
  const { offer, key } = choice
  switch (answer.outcome) {
    case 'launched':
      return recordLaunch(ctx, instance, intent, answer.machine, {
        startedAt: ctx.clock.now(),
        billedFrom: answer.at,
        message: `rented ${offer.instanceType} (${answer.machine.cloudId}) for ${formatDollars(offer.pricePerHourCents)} an hour`,
      })
    case 'unknown':
      return stayUnclear(ctx, instance, intent, answer.message, answer.retryAfterMs)
    case 'rejected': {
      const message = `${offer.instanceType} was not rented, ${answer.code}: ${answer.message}`
      if (answer.code === 'throttled') {
        const isPatient = choice.isLast || ctx.clock.now() - instance.createdAt < patienceMs
        const delayMs = Math.min(answer.retryAfterMs ?? 15_000, longestThrottleMs)
        return closeIntent(ctx, instance, intent, message, isPatient ? { delayMs } : { tried: [key] })
      }
      const unusable = answer.code === 'bad_credentials' || answer.code === 'invalid_settings'
      return closeIntent(ctx, instance, intent, message, {
        tried: [unusable ? wholeBackend(offer.backend) : key],
      })
    }
  }
}

const newIntent = async (
  ctx: Context,
  instance: Instance,
  { offer, zone }: Choice,
  more: Pick<Intent, 'lock' | 'existing'>,
): Promise<Intent> => {
  const attempt = instance.attempts + 1
  return {
    attempt,
    offerId: offer.id,
    mark: formatMark({ owner: await ctx.store.owner(), instanceId: instance.id, attempt }),
    token: [
      instance.id,
      attempt,
      zone ?? offer.region,
      offer.instanceType,
      offer.resources.spot ? 'spot' : 'on-demand',
    ].join('-'),
    ...more,
    payload: offer.payload,
    writtenAt: ctx.clock.now(),
  }
}

const intended = (ctx: Context, current: Instance, { offer, zone }: Choice, intent: Intent): Instance => ({
  ...leased(
    ctx,
    withEvent(current, ctx.clock.now(), `renting ${offer.instanceType} in ${zone ?? offer.region}`, {
      status: 'provisioning',
      phase: 'launching',
    }),
  ),
  attempts: intent.attempt,
  intent,
  backend: offer.backend,
  region: offer.region,
  zone,
  instanceType: offer.instanceType,
  resources: offer.resources,
  pricePerHourCents: offer.pricePerHourCents,
  minimumReservationMinutes: offer.minimumReservationMinutes,
  minimumChargeCents: offer.minimumChargeCents,
  billing: offer.billing,
})

const waitFor = async (ctx: Context, known: Instance, why: string, retryAfterMs?: number): Promise<void> => {
  const { instance, changed } = await change(ctx, known, (current) => {
    if (stepOf(current) !== 'provision' || current.intent) return undefined
    const now = ctx.clock.now()
    const line = `waiting: ${why}`
    const told = withNews(current, now, line)
    return visitAgain(told, now + patient(growingDelay(current.visits, 15_000), retryAfterMs))
  })
  if (changed) await hintNext(ctx, instance)
}

const wholeBackend = (backend: string) => `${backend}/*`

const noOffers = (
  instance: Instance,
  {
    offers,
    errors,
    seen,
    excess,
  }: { offers: Offer[]; errors: OfferError[]; seen: number; excess?: Excess | undefined },
): string => {
  const asked = formatRequirements(instance.wanted.requirements)
  const fitting = excess
    ? `the limits on spending leave no room: ${excess.message}`
    : instance.tried?.length
      ? `every fitting offer was tried (${instance.tried.length})`
      : offers.length > 0
        ? `${offers.length} fit, none of them can be had now`
        : `none of ${seen} offers fits`
  return `no offer for ${asked}: ${fitting}; nothing was rented, nothing is charged${errors.length > 0 ? `. ${wordsOf(errors)}` : ''}`
}

const wordsOf = (errors: OfferError[]) =>
  errors
    .slice(0, 3)
    .map(({ backend, message }) => `${backend}: ${message}`)
    .join('; ')
