import { type CostLine, costLine } from '../model/cost.ts'
import { spend } from '../model/spend.ts'
import type { SpendChange } from './store.ts'

export const spendKey = { pk: 'SPEND', sk: 'SPEND' }

export const toSpendItem = ({ before, next }: SpendChange) => ({
  ...spendKey,
  ...spend.parse({ ...next, version: (before?.version ?? 0) + 1 }),
})

/** Nobody has written since it was read. */
export const isSpend = (before: SpendChange['before']) =>
  before === undefined
    ? { ConditionExpression: 'attribute_not_exists(pk)' }
    : {
        ConditionExpression: '#version = :version',
        ExpressionAttributeNames: { '#version': 'version' },
        ExpressionAttributeValues: { ':version': before.version },
      }

export const costKey = (month: string) => `COST#${month}`

export const toCostItem = (line: CostLine) => ({
  pk: costKey(line.month),
  sk: line.instanceId,
  ...costLine.parse(line),
})
