import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { GetCommand, QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { keptLimits } from '../model/limits.ts'
import type { DynamoOptions } from './dynamo-store.ts'
import type { ApiKey, ApiKeys } from './store.ts'

const apiKeyItem = z.object({
  hash: z.string(),
  name: z.string(),
  role: z.enum(['operator', 'viewer']),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
  limits: keptLimits.optional(),
})

/** What is read of one that may have been removed: its item has no hash then. */
const limitsItem = z.object({ limits: keptLimits.optional() })

/** Each key stands twice, by its hash for those who call and by its name for those who list; both are one write. */
export const createApiKeys = ({ client, table }: Pick<DynamoOptions, 'client' | 'table'>): ApiKeys => {
  const itemAt = async (Key: Record<string, string>): Promise<Record<string, unknown>> => {
    const { Item } = await client.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }))
    return Item ?? {}
  }
  const read = async (Key: Record<string, string>): Promise<ApiKey | undefined> => {
    const item = await itemAt(Key)
    return item.hash === undefined ? undefined : apiKeyItem.parse(item)
  }
  const put = (key: ApiKey, condition: typeof isFreeOr) =>
    written(async () => {
      const named = { ...byName(key.name), ...key }
      await client.send(
        new TransactWriteCommand({
          TransactItems: [
            { Put: { TableName: table, Item: named, ...condition(key.hash) } },
            { Put: { TableName: table, Item: { ...byHash(key.hash), ...key } } },
          ],
        }),
      )
    })
  return {
    addApiKey: (key) => put(key, isFreeOr),
    changeApiKey: (key) => put(key, isStill),
    findApiKey: (hash) => read(byHash(hash)),
    keyLimits: async (name) => limitsItem.parse(await itemAt(byName(name))).limits,
    listApiKeys: async () => {
      const keys: ApiKey[] = []
      let ExclusiveStartKey: Record<string, unknown> | undefined
      do {
        const page = await client.send(
          new QueryCommand({
            TableName: table,
            KeyConditionExpression: 'pk = :pk',
            FilterExpression: 'attribute_exists(#hash)',
            ExpressionAttributeNames: { '#hash': 'hash' },
            ExpressionAttributeValues: { ':pk': namesKey },
            ConsistentRead: true,
            ExclusiveStartKey,
          }),
        )
        keys.push(...z.array(apiKeyItem).parse(page.Items ?? []))
        ExclusiveStartKey = page.LastEvaluatedKey
      } while (ExclusiveStartKey)
      return keys
    },
    removeApiKey: async (name) => {
      const key = await read(byName(name))
      if (!key) return undefined
      const removed = await written(async () => {
        await client.send(
          new TransactWriteCommand({
            TransactItems: [
              {
                Put: {
                  TableName: table,
                  Item: { ...byName(name), limits: key.limits },
                  ...isFreeOr(key.hash),
                },
              },
              { Delete: { TableName: table, Key: byHash(key.hash) } },
            ],
          }),
        )
      })
      if (!removed) throw new Error(`the API key ${name} was replaced at the same moment; look and try again`)
      return key
    },
  }
}

const namesKey = 'APIKEYS'
const byHash = (hash: string) => ({ pk: `APIKEY#${hash}`, sk: 'APIKEY' })
const byName = (name: string) => ({ pk: namesKey, sk: name })

/** The name stands for no key, or for this one already. */
const isFreeOr = (hash: string) => ({
  ConditionExpression: 'attribute_not_exists(#hash) OR #hash = :hash',
  ExpressionAttributeNames: { '#hash': 'hash' },
  ExpressionAttributeValues: { ':hash': hash },
})

/** The name stands for this key. */
const isStill = (hash: string) => ({ ...isFreeOr(hash), ConditionExpression: '#hash = :hash' })

/** Tries again while another transaction is at the same items. False when the condition does not hold. */
const written = async (write: () => Promise<void>): Promise<boolean> => {
  for (let tries = 0; ; tries++) {
    try {
      await write()
      return true
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error
      const codes = (error.CancellationReasons ?? []).map(({ Code }) => Code)
      if (codes.includes('ConditionalCheckFailed')) return false
      if (!codes.includes('TransactionConflict') || tries >= 9) throw error
    }
  }
}
