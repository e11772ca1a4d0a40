import type { Billed } from '../backends/backend.ts'
import { type Billing, chargedIn, monthsOf } from '../model/billing.ts'
import type { CostLine } from '../model/cost.ts'
import type { Instance } from '../model/instance.ts'

/** The bill of an instance as far as it is known: while its machine may still be there, it goes on. */
export const billOf = ({ billing, status }: Pick<Instance, 'billing' | 'status'>): Billing | undefined =>
  billing && status !== 'terminated' ? { ...billing, until: undefined } : billing

/**
 * The bill of a machine that is gone. The cloud's own times count; where it gives none, those of the calls that rented
 * it and gave it back; and without those the look at which it was gone, so that nothing is counted too low.
 */
export const closedBill = (
  billing: Billing | undefined,
  { from, until }: Billed,
  seenGoneAt: number,
): Billing | undefined =>
  billing && {
    ...billing,
    from: from === null ? undefined : (from ?? billing.from),
    until: until ?? billing.until ?? seenGoneAt,
  }

/** What the ledger keeps of an instance that has ended: a line for each month. */
export const costLinesOf = (instance: Instance, now: number): CostLine[] => {
  const { billing } = instance
  if (!billing) return []
  return monthsOf(billing, now).map((month) => costLineOf(instance, billing, month, now))
}

/** The share of one month in what an instance cost. */
export const costLineOf = (instance: Instance, bill: Billing, month: string, now: number): CostLine => ({
  month,
  instanceId: instance.id,
  name: instance.name,
  backend: instance.backend,
  instanceType: instance.instanceType,
  key: instance.createdBy,
  fleet: instance.fleet,
  ...chargedIn(bill, month, now),
})
