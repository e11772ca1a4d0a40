import type { Fleet } from '../model/fleet.ts'
import type { Instance } from '../model/instance.ts'
import { type Cents, formatDollars } from '../model/money.ts'
import type { Offer, OfferError } from '../model/offer.ts'
import { freeNumbers, nodeName, type Standing } from './fleet-standing.ts'

/** What an apply does, or would do. */
export type FleetPlan = {
  /** `none`: the fleet is as the file says already. */
  action: 'create' | 'update' | 'none'
  /** Each with the best offer of now; without one where none can be had. */
  create: { name: string; offer: Offer | undefined }[]
  keep: Instance[]
  remove: { instance: Instance; message: string }[]
  /** Of those that are created, per hour, and what they cost at least. */
  pricePerHourCents: Cents
  minimumChargeCents: Cents
  /** Of the whole fleet once all of that is done, per hour. */
  totalPerHourCents: Cents
  messages: string[]
  errors: OfferError[]
}

/** Says what is to be created, kept and given back for a fleet as it is to be, and what it costs: pure. */
export const planFleet = (
  action: FleetPlan['action'],
  fleet: Fleet,
  standing: Standing,
  found: { offers: Offer[]; errors: OfferError[] },
  now: number,
): FleetPlan => {
  // For each node the same: what an offer's cloud has left of it shows when it is rented.
  const offer = found.offers.find(
    ({ availability }) => availability === 'available' || availability === 'unknown',
  )
  const create = freeNumbers(fleet, standing.missing).map((n) => ({ name: nodeName(fleet, n), offer }))
  const each = offer ?? { pricePerHourCents: 0, minimumChargeCents: 0 }
  const pricePerHourCents = create.length * each.pricePerHourCents
  const keptPerHour = standing.kept.reduce((sum, node) => sum + (node.pricePerHourCents ?? 0), 0)
  return {
    action,
    create,
    keep: standing.kept,
    remove: standing.surplus.map((instance) => ({ instance, message: whenItGoes(instance, now) })),
    pricePerHourCents,
    minimumChargeCents: create.length * each.minimumChargeCents,
    totalPerHourCents: pricePerHourCents + keptPerHour,
    messages: [
      ...prepaidLine(create.length, offer),
      ...(create.length > 0 && !offer
        ? ['no offer that fits can be had now; it is tried again at growing intervals, up to 30 minutes']
        : []),
      ...(standing.heldBack > 0
        ? [
            `${standing.heldBack} more when nodes that are given back are gone, since there may be no more than max`,
          ]
        : []),
    ],
    errors: found.errors,
  }
}

/** What a node costs that its fleet gives back, and until when it stays. */
export const whenItGoes = (node: Instance, now: number): string => {
  const prepaidUntil = node.releaseAt ?? node.reservation?.until ?? 0
  const prepaid =
    prepaidUntil > now ? `not before ${new Date(prepaidUntil).toISOString()}, as it is prepaid` : ''
  if (node.claim && node.machine) {
    const after = `given back when the claim of ${node.claim.holder} has ended`
    return prepaid ? `${after}, and ${prepaid}` : after
  }
  if (!node.machine && !node.intent) return 'nothing is rented for it'
  return prepaid ? `given back ${prepaid}` : 'given back now'
}

const prepaidLine = (count: number, offer: Offer | undefined): string[] => {
  if (count === 0 || !offer || offer.minimumReservationMinutes <= 1) return []
  const { instanceType, minimumReservationMinutes: minutes, minimumChargeCents } = offer
  const span = minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`
  return [
    `each ${instanceType} is paid for ${span} at once, ${formatDollars(minimumChargeCents)}, whatever becomes of the ` +
      'fleet; so is each one that replaces it',
  ]
}
