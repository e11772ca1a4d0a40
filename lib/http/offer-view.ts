import type { ListedOffer } from '../lifecycle/offers.ts'
import { toDollars } from '../model/money.ts'
import type { OfferAnswer } from './answers.ts'

/** An offer as the API shows it, with money in US dollars. */
export const offerView = ({ instanceId, experimental, ...offer }: ListedOffer): OfferAnswer => ({
  id: offer.id,
  backend: offer.backend,
  region: offer.region,
  zones: offer.zones,
  instanceType: offer.instanceType,
  resources: offer.resources,
  availability: offer.availability,
  minimumReservationMinutes: offer.minimumReservationMinutes,
  ...(experimental !== undefined && { experimental }),
  ...(instanceId !== undefined && { instanceId }),
  pricePerHour: toDollars(offer.pricePerHourCents),
  minimumCharge: toDollars(offer.minimumChargeCents),
})
