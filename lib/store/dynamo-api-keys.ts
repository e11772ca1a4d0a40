import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import type { DynamoOptions } from './dynamo-store.ts'
import type { ApiKeys } from './store.ts'

const apiKeyItem = z.object({
  hash: z.string(),
  name: z.string(),
  role: z.enum(['operator', 'viewer']),
  createdAt: z.number(),
})

export const createApiKeys = ({ client, table }: Pick<DynamoOptions, 'client' | 'table'>): ApiKeys => ({
  addApiKey: async (key) => {
    await client.send(new PutCommand({ TableName: table, Item: { ...keyOf(key.hash), ...key } }))
  },
  findApiKey: async (hash) => {
    const { Item } = await client.send(new GetCommand({ TableName: table, Key: keyOf(hash) }))
    return Item === undefined ? undefined : apiKeyItem.parse(Item)
  },
})

const keyOf = (hash: string) => ({ pk: `APIKEY#${hash}`, sk: 'APIKEY' })
