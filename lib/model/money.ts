import * as z from 'zod'

/** US cents, a whole number: the only form in which Berth computes with money. */
export const cents = z.int().nonnegative()
export type Cents = z.infer<typeof cents>

/** US dollars as the API shows them: a number whose cents are exact. */
export const toDollars = (amount: Cents): number => amount / 100

/** "$27.12", as people read it. */
export const formatDollars = (amount: Cents): string => `$${(amount / 100).toFixed(2)}`

/** Dollars as people write them (27.12) to cents; a fraction of a cent is rounded down, never up. */
export const fromDollars = (dollars: number): Cents => Math.floor(Number((dollars * 100).toFixed(6)))

/**
 * What so many minutes cost, in cents. A part of a cent counts as a whole one,
 * so that a charge is never announced lower than it comes out.
 */
export const costOf = (pricePerHour: Cents, minutes: number): Cents =>
  Math.ceil(Number(((pricePerHour * minutes) / 60).toFixed(6)))

/**
 * What a rental has cost so far, in cents: by the started minute, at least the prepaid minimum.
 * Source: Hot Aisle's contract (minimum reservation, then by the minute).
 */
export const accruedCost = (rental: {
  pricePerHourCents: Cents
  minimumMinutes: number
  startedAt: number
  until: number
}): Cents => {
  const minutes = Math.ceil(Math.max(0, rental.until - rental.startedAt) / 60_000)
  return costOf(rental.pricePerHourCents, Math.max(minutes, rental.minimumMinutes))
}
