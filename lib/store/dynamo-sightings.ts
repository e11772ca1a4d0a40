import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import { sightings } from '../model/sightings.ts'
import type { DynamoOptions } from './dynamo-store.ts'
import type { SightingsPort } from './store.ts'

export const createSightings = ({ client, table, random }: DynamoOptions): SightingsPort => ({
  get: async (backend) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: table, Key: keyOf(backend), ConsistentRead: true }),
    )
    return Item === undefined ? undefined : sightings.parse(Item)
  },
  put: async (backend, before, machines) => {
    // Tells this write from another's, should its answer get lost and the SDK send it again.
    const writeId = random.hex(8)
    try {
      await client.send(
        new PutCommand({
          TableName: table,
          Item: { ...keyOf(backend), version: (before?.version ?? 0) + 1, machines, writeId },
          ...(before === undefined ? isNew : isVersion(before.version)),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      )
      return true
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return error.Item?.writeId?.S === writeId
      throw error
    }
  },
})

const keyOf = (backend: string) => ({ pk: `SIGHTINGS#${backend}`, sk: 'SIGHTINGS' })

const isNew = { ConditionExpression: 'attribute_not_exists(pk)' }

const isVersion = (version: number) => ({
  ConditionExpression: '#version = :version',
  ExpressionAttributeNames: { '#version': 'version' },
  ExpressionAttributeValues: { ':version': version },
})
