import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { sightings } from '../model/sightings.ts'
import type { DynamoOptions } from './dynamo-store.ts'
import type { SightingsPort } from './store.ts'
import { versionedPut } from './versioned-put.ts'

export const createSightings = (options: DynamoOptions): SightingsPort => {
  const { client, table } = options
  return {
    get: async (backend) => {
      const { Item } = await client.send(
        new GetCommand({ TableName: table, Key: keyOf(backend), ConsistentRead: true }),
      )
      return Item === undefined ? undefined : sightings.parse(Item)
    },
    put: (backend, before, machines) =>
      versionedPut(
        options,
        { ...keyOf(backend), version: (before?.version ?? 0) + 1, machines },
        before === undefined ? isNew : isVersion(before.version),
      ),
  }
}

const keyOf = (backend: string) => ({ pk: `SIGHTINGS#${backend}`, sk: 'SIGHTINGS' })

const isNew = { ConditionExpression: 'attribute_not_exists(pk)' }

const isVersion = (version: number) => ({
  ConditionExpression: '#version = :version',
  ExpressionAttributeNames: { '#version': 'version' },
  ExpressionAttributeValues: { ':version': version },
})
