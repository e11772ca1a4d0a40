import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { type CostLine, costLine } from '../model/cost.ts'
import { spend as spendSchema } from '../model/spend.ts'
import type { DynamoOptions } from './dynamo-store.ts'
import { costKey, isSpend, spendKey, toSpendItem } from './spend-item.ts'
import type { Spending } from './store.ts'
import { versionedPut } from './versioned-put.ts'

/** The ledger, and what is committed. Both are written with the instances that they are about. */
export const createSpending = (options: DynamoOptions): Spending => {
  const { client, table } = options
  return {
    spend: async () => {
      const { Item } = await client.send(
        new GetCommand({ TableName: table, Key: spendKey, ConsistentRead: true }),
      )
      return Item === undefined ? undefined : spendSchema.parse(Item)
    },

    putSpend: (change) => versionedPut(options, toSpendItem(change), isSpend(change.before)),

    costs: async (month) => {
      const lines: CostLine[] = []
      let ExclusiveStartKey: Record<string, unknown> | undefined
      do {
        const page = await client.send(
          new QueryCommand({
            TableName: table,
            KeyConditionExpression: 'pk = :pk',
            ExpressionAttributeValues: { ':pk': costKey(month) },
            ConsistentRead: true,
            ExclusiveStartKey,
          }),
        )
        lines.push(...z.array(costLine).parse(page.Items ?? []))
        ExclusiveStartKey = page.LastEvaluatedKey
      } while (ExclusiveStartKey)
      return lines
    },
  }
}
