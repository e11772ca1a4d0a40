import type { ListedOffer } from '../lifecycle/offers.ts'
import { toDollars } from '../model/money.ts'

/** An offer as the API shows it, with money in US dollars. */
export const offerView = ({ pricePerHourCents, minimumChargeCents, ...offer }: ListedOffer) => ({
  ...offer,
  pricePerHour: toDollars(pricePerHourCents),
  minimumCharge: toDollars(minimumChargeCents),
})
