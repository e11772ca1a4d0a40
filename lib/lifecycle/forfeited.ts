import type { Instance } from '../model/instance.ts'
import { formatDollars } from '../model/money.ts'

/** What is lost by giving a machine back now, in words, or undefined when nothing is. */
export const forfeited = (instance: Instance, now: number): string | undefined => {
  const { reservation } = instance
  if (reservation?.state !== 'active' || reservation.until <= now) return undefined
  const minutes = Math.floor((reservation.until - now) / 60_000)
  const until = new Date(reservation.until).toISOString()
  return `${formatDollars(reservation.chargeCents)} was charged for the time until ${until}; ${minutes} prepaid minutes are forfeited`
}
