import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { type CostLine, costLine } from '../model/cost.ts'
import { spend as spendSchema } from '../model/spend.ts'
import { isConflict } from './conflict.ts'
import type { DynamoOptions } from './dynamo-store.ts'
import { costKey, isSpend, spendKey, toSpendItem } from './spend-item.ts'
import type { Spending } from './store.ts'

/** The ledger, and what is committed. Both are written with the instances that they are about. */
export const createSpending = ({ client, table, random }: DynamoOptions): Spending => ({
  spend: async () => {
    const { Item } = await client.send(
      new GetCommand({ TableName: table, Key: spendKey, ConsistentRead: true }),
    )
    return Item === undefined ? undefined : spendSchema.parse(Item)
  },

  putSpend: async (change) => {
    // Tells this write from another's, should its answer get lost and the SDK send it again.
    const writeId = random.hex(8)
    try {
      await client.send(
        new PutCommand({
          TableName: table,
          Item: { ...toSpendItem(change), writeId },
          ...isSpend(change.before),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      )
      return true
    } catch (error) {
      if (isConflict(error)) return false
      if (error instanceof ConditionalCheckFailedException) return error.Item?.writeId?.S === writeId
      throw error
    }
  },

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
})
