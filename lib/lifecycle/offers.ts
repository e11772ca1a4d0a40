import type { Context } from '../context.ts'
import type { Instance } from '../model/instance.ts'
import type { Offer, OfferError } from '../model/offer.ts'
import { satisfies, type Wanted } from '../model/request.ts'
import { listAll } from './every-instance.ts'

/** An offer as it is shown: one of a cloud's, or a machine that Berth holds already, idle. */
export type ListedOffer = Omit<Offer, 'payload' | 'billing'> & { instanceId?: string }

/** Offers of every backend that fit, best first, with what could not be had. Backends are asked at the same time. */
export const gatherOffers = async (
  ctx: Pick<Context, 'backends'>,
  wanted: Wanted,
): Promise<{ offers: Offer[]; errors: OfferError[]; seen: number }> => {
  const asked = ctx.backends.filter(
    ({ type }) => wanted.backends === undefined || wanted.backends.includes(type),
  )
  const answers = await Promise.all(asked.map((backend) => backend.offers(wanted.requirements)))
  const all = answers.flatMap(({ offers }) => offers)
  return {
    offers: all.filter((offer) => satisfies(wanted, offer)).sort(byPreference),
    errors: answers.flatMap(({ errors }) => errors),
    seen: all.length,
  }
}

/** What `GET /offers` shows: idle machines first, since they are here already, then the clouds' offers. */
export const listOffers = async (
  ctx: Pick<Context, 'backends' | 'store' | 'clock'>,
  wanted: Wanted,
): Promise<{ offers: ListedOffer[]; errors: OfferError[] }> => {
  const [gathered, idle] = await Promise.all([gatherOffers(ctx, wanted), idleMachines(ctx, wanted)])
  const held = idle.flatMap((instance) => offerOf(instance) ?? [])
  const offers = gathered.offers.map(({ payload: _, billing: __, ...shown }) => shown)
  return { offers: [...held, ...offers], errors: gathered.errors }
}

/** Idle machines that fit, prepaid ones before others, then by price, the longest idle first. */
export const idleMachines = async (
  ctx: Pick<Context, 'store' | 'clock'>,
  wanted: Wanted,
  hardwareCheck: Instance['hardwareCheck'] = 'enforce',
): Promise<Instance[]> => {
  const found = await listAll(ctx, 'idle')
  const now = ctx.clock.now()
  return found
    .filter((instance) => isFree(instance, wanted, hardwareCheck))
    .sort((a, b) => rank(a, now) - rank(b, now) || (a.idleSince ?? 0) - (b.idleSince ?? 0))
}

/** Whether a machine may be given to a request: idle, in sight, fitting, and as checked as is asked for. */
export const isFree = (
  instance: Instance,
  wanted: Wanted,
  hardwareCheck: Instance['hardwareCheck'],
): boolean =>
  instance.status === 'idle' &&
  instance.unreachableSince === undefined &&
  (hardwareCheck !== 'enforce' || instance.hardware?.verdict === 'match') &&
  fitsIdle(wanted, instance)

const fitsIdle = (wanted: Wanted, instance: Instance): boolean => {
  const { backend, region, instanceType, resources, pricePerHourCents } = instance
  if (!backend || !region || !instanceType || !resources || pricePerHourCents === undefined) return false
  return satisfies(wanted, { backend, region, instanceType, resources, pricePerHourCents })
}

/** Prepaid hours cost nothing more, so they come before every price. */
const rank = (instance: Instance, now: number): number =>
  (instance.reservation?.until ?? 0) > now ? -1 : (instance.pricePerHourCents ?? 0)

const offerOf = (instance: Instance): ListedOffer | undefined => {
  const { backend, region, instanceType, resources, pricePerHourCents } = instance
  if (!backend || !region || !instanceType || !resources || pricePerHourCents === undefined) return undefined
  return {
    id: `idle/${instance.id}`,
    backend,
    region,
    zones: instance.zone === undefined ? [] : [instance.zone],
    instanceType,
    resources,
    pricePerHourCents,
    availability: 'idle',
    // Taking a machine that is here adds no new minimum and no new charge.
    minimumReservationMinutes: 0,
    minimumChargeCents: 0,
    instanceId: instance.id,
  }
}

const availabilityOrder = { idle: 0, available: 1, unknown: 2, not_available: 3, no_quota: 4 } as const

/** What can be had first, then the cheaper; ties by what has to be paid at least, then by id, always the same way. */
const byPreference = (a: Offer, b: Offer): number =>
  availabilityOrder[a.availability] - availabilityOrder[b.availability] ||
  a.pricePerHourCents - b.pricePerHourCents ||
  a.minimumChargeCents - b.minimumChargeCents ||
  (a.id < b.id ? -1 : 1)
