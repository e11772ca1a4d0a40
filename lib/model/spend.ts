import * as z from 'zod'
import { type Billing, billing, chargedBy, monthBounds, monthOf } from './billing.ts'
import type { CostLine } from './cost.ts'
import type { Instance } from './instance.ts'
import type { Limits } from './limits.ts'
import { type Cents, formatDollars } from './money.ts'

/** One live instance, and what it is sure to cost; `bill` is there from before the paid call until it came to nothing. */
const commitment = z.object({
  id: z.string(),
  /** Who asked for it, and whose budget pays. */
  key: z.string(),
  /** Who has it, or else whose it is: to whose number of instances and price per hour it counts. */
  holder: z.string(),
  fleet: z.string().optional(),
  bill: billing.optional(),
})
export type Commitment = z.infer<typeof commitment>

/** What is committed at the moment, by everyone: the one record that every limit is checked against. */
export const spend = z.object({
  /** Rises with every write; each write is conditional on the version that was read. */
  version: z.int().positive(),
  madeAt: z.int(),
  live: z.array(commitment),
  /** What ended instances cost, by month and key, of this month and the last. In cents. */
  settled: z.record(z.string(), z.record(z.string(), z.int().nonnegative())),
})
export type Spend = z.infer<typeof spend>

const hourMs = 3_600_000

/** How an instance counts; money runs from the intent, since nobody knows before its answer whether it does. */
export const commitmentOf = (instance: Instance): Commitment => {
  const { id, createdBy: key, fleet, intent, machine, billing: terms, startedAt } = instance
  const from = intent?.writtenAt ?? terms?.from ?? startedAt
  return {
    id,
    key,
    holder: instance.claim?.holder ?? key,
    ...(fleet !== undefined && { fleet }),
    ...((intent || machine) && terms && from !== undefined && { bill: { ...terms, from, until: undefined } }),
  }
}

/** The record with this commitment instead of the one that the instance had. */
export const withCommitment = (known: Spend, next: Commitment): Spend => ({
  ...known,
  live: [...known.live.filter(({ id }) => id !== next.id), next],
})

/** The record without an instance that has ended, and with what it cost. */
export const settledWith = (known: Spend, ended: string, lines: CostLine[], now: number): Spend => ({
  ...known,
  live: known.live.filter(({ id }) => id !== ended),
  settled: lines.reduce(addLine, recent(known.settled, now)),
})

export const addLine = (settled: Spend['settled'], { month, key, cents }: CostLine): Spend['settled'] => ({
  ...settled,
  [month]: { ...settled[month], [key]: (settled[month]?.[key] ?? 0) + cents },
})

/** This month and the one before it. */
export const recentMonths = (now: number): [current: string, last: string] => {
  const month = monthOf(now)
  return [month, monthOf(monthBounds(month).start - 1)]
}

const recent = (settled: Spend['settled'], now: number): Spend['settled'] =>
  Object.fromEntries(Object.entries(settled).filter(([month]) => recentMonths(now).includes(month)))

/** What counts towards the limits. Money in cents. */
export type Usage = { instances: number; pricePerHour: Cents; month: Cents }

/** Of the deployment, or with `key` of one API key. */
export const usageOf = ({ live, settled }: Spend, now: number, key?: string): Usage => {
  const held = live.filter(({ holder }) => key === undefined || holder === key)
  const paid = live.filter((each) => key === undefined || each.key === key)
  const micros = held.reduce((sum, { bill }) => sum + (bill?.microsPerHour ?? 0), 0)
  const past = Object.entries(settled[monthOf(now)] ?? {}).filter(
    ([name]) => key === undefined || name === key,
  )
  return {
    instances: held.length,
    pricePerHour: Math.ceil(micros / 10_000),
    month: [...past.map(([, cents]) => cents), ...paid.map(({ bill }) => certain(bill, now))].reduce(
      (sum, cents) => sum + cents,
      0,
    ),
  }
}

/** What a machine is sure to cost this month: its minimum, or what has accrued and one more hour. */
const certain = (bill: Billing | undefined, now: number): Cents => {
  if (bill?.from === undefined) return 0
  const { start, end } = monthBounds(monthOf(now))
  const before = bill.from < start ? chargedBy(bill, start) : 0
  return chargedBy(bill, Math.min(now + hourMs, end)) - before
}

export type Excess = { limit: keyof Limits; message: string }

/**
 * Which limit does not allow what is committed, in words with the numbers. `before` is without what is asked for;
 * `unpriced` asks for a machine whose price is not known yet, so that something must be left for it.
 */
export const excessOf = (
  limits: Limits,
  before: Usage,
  after: Usage,
  { whose, unpriced }: { whose: string; unpriced: boolean },
): Excess | undefined => {
  const { max_instances: instances, max_price_per_hour: price, monthly_budget: budget } = limits
  // What adds nothing is allowed, though a limit was lowered since.
  const isOver = (limit: number, used: number, then: number) =>
    unpriced ? used >= limit : then > limit && then > used
  if (instances !== undefined && after.instances > instances && after.instances > before.instances)
    return {
      limit: 'max_instances',
      message: `max_instances of ${whose} is ${instances}, and ${before.instances} live; one more was asked for`,
    }
  if (price !== undefined && isOver(price, before.pricePerHour, after.pricePerHour))
    return {
      limit: 'max_price_per_hour',
      message: words('max_price_per_hour', whose, price, before.pricePerHour, after.pricePerHour, unpriced),
    }
  if (budget !== undefined && isOver(budget, before.month, after.month))
    return {
      limit: 'monthly_budget',
      message: words('monthly_budget', whose, budget, before.month, after.month, unpriced),
    }
  return undefined
}

const words = (
  name: string,
  whose: string,
  limit: Cents,
  used: Cents,
  after: Cents,
  unpriced: boolean,
): string => {
  const asked = unpriced
    ? 'nothing is left for another machine'
    : `${formatDollars(after - used)} more were asked for`
  return `${name} of ${whose} is ${formatDollars(limit)}, and ${formatDollars(used)} of it are committed; ${asked}`
}
