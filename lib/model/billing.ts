import * as z from 'zod'
import type { Cents } from './money.ts'

/** Milliseconds since 1970. */
const instant = z.int()

/**
 * How its cloud charges for a machine: the backend says it with the offer, and it stays with the rental, since rules
 * and prices change. Where a price has fractions of a cent they count, so it is in millionths of a dollar.
 */
export const billingTerms = z.object({
  microsPerHour: z.int().nonnegative(),
  /** What is charged in whole: a started minute, a started second. In milliseconds, like `leastMs`. */
  stepMs: z.int().positive(),
  /** So much is charged at once, however short the rental is. */
  leastMs: z.int().nonnegative(),
  /** The moment from which it is charged. */
  startsAt: z.enum(['launch', 'running']),
})
export type BillingTerms = z.infer<typeof billingTerms>

/** What was charged for a machine: `from` is missing until it is, and for one that never was. */
export const billing = billingTerms.extend({ from: instant.optional(), until: instant.optional() })
export type Billing = z.infer<typeof billing>

/** What was charged until `at`, in cents: in whole steps, the least of it at once, a part of a cent as a whole one. */
export const chargedBy = (billed: Billing, at: number): Cents => {
  const { microsPerHour, stepMs, leastMs, from, until = at } = billed
  if (from === undefined || at < from) return 0
  const lasted = Math.max(0, Math.min(at, until) - from)
  const ms = Math.max(Math.ceil(lasted / stepMs) * stepMs, leastMs)
  // In seconds, so that the product is a whole number that can be held exactly for years of any machine.
  return Math.ceil((microsPerHour * (ms / 1000)) / 36_000_000)
}

/** A month of UTC, `2026-12`: where it begins and ends. */
export const monthBounds = (month: string): { start: number; end: number } => {
  const start = Date.parse(`${month}-01T00:00:00Z`)
  const first = new Date(start)
  return { start, end: Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1) }
}

export const monthOf = (at: number): string => new Date(at).toISOString().slice(0, 7)

/**
 * The part of the charges until `now` that falls into a month: what was charged by its end and not by its beginning.
 * So a minimum belongs to the month of the launch, and the months together are the whole, to the cent.
 */
export const chargedIn = (billed: Billing, month: string, now: number): { cents: Cents; ms: number } => {
  const { start, end } = monthBounds(month)
  const { from, until = now } = billed
  // A bill that runs on from an earlier month: what was charged before this one's first moment is that one's.
  const before = from !== undefined && from < start ? chargedBy(billed, start) : 0
  const isLater = now < start || (from !== undefined && from >= end)
  const cents = isLater ? 0 : chargedBy(billed, Math.min(now, end)) - before
  const ms = from === undefined ? 0 : Math.min(now, until, end) - Math.max(from, start)
  return { cents, ms: Math.max(0, ms) }
}

/** The months in which something was charged, or in which the rental went on, until `now`. */
export const monthsOf = ({ from, until }: Billing, now: number): string[] => {
  if (from === undefined) return []
  const months: string[] = []
  const last = Math.max(from, Math.min(now, until ?? now))
  for (let month = monthOf(from); ; month = monthOf(monthBounds(month).end)) {
    months.push(month)
    if (monthBounds(month).end > last) return months
  }
}
