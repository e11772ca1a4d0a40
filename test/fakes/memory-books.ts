import { type CostLine, costLine } from '../../lib/model/cost.ts'
import { type Spend, spend as spendSchema } from '../../lib/model/spend.ts'
import type { SpendChange, Spending } from '../../lib/store/store.ts'

/** The ledger and what is committed, in memory. `mayPut` is the condition of the transaction that `put` is part of. */
export const createMemoryBooks = (onSpend: (after: Spend) => void = () => {}) => {
  const lines = new Map<string, CostLine>()
  let spend: Spend | undefined

  const mayPut = (change: SpendChange | undefined) =>
    change === undefined || change.before?.version === spend?.version
  const put = (change: SpendChange | undefined, costs: CostLine[] = []) => {
    for (const line of costs) lines.set(`${line.month} ${line.instanceId}`, costLine.parse(line))
    if (!change) return
    spend = spendSchema.parse({ ...change.next, version: (change.before?.version ?? 0) + 1 })
    onSpend(spend)
  }
  const port: Spending = {
    spend: async () => spend,
    putSpend: async (change) => {
      if (!mayPut(change)) return false
      put(change)
      return true
    },
    costs: async (month) => [...lines.values()].filter((line) => line.month === month),
  }
  return { port, mayPut, put }
}
