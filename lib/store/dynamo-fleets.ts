import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { DeleteCommand, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb'
import type { Fleet } from '../model/fleet.ts'
import { isConflict } from './conflict.ts'
import type { DynamoOptions } from './dynamo-store.ts'
import { changedFleet, fleetKey, fleetsKey, fromFleetItem, isSameFleet, toFleetItem } from './fleet-item.ts'
import type { FleetsPort } from './store.ts'
import { versionedPut } from './versioned-put.ts'

export const createFleets = (options: DynamoOptions): FleetsPort => {
  const { client, table } = options
  return {
    get: async (name) => {
      const { Item } = await client.send(
        new GetCommand({ TableName: table, Key: fleetKey(name), ConsistentRead: true }),
      )
      return Item === undefined ? undefined : fromFleetItem(Item)
    },

    list: async () => {
      const fleets: Fleet[] = []
      let ExclusiveStartKey: Record<string, unknown> | undefined
      do {
        const page = await client.send(
          new QueryCommand({
            TableName: table,
            KeyConditionExpression: 'pk = :pk',
            ExpressionAttributeValues: { ':pk': fleetsKey },
            ConsistentRead: true,
            ExclusiveStartKey,
          }),
        )
        fleets.push(...(page.Items ?? []).map(fromFleetItem))
        ExclusiveStartKey = page.LastEvaluatedKey
      } while (ExclusiveStartKey)
      return fleets
    },

    put: async (previous, next) => {
      const written = previous ? changedFleet({ previous, next }) : { ...next, version: 0 }
      const condition = previous ? isSameFleet(previous) : { ConditionExpression: 'attribute_not_exists(pk)' }
      return (await versionedPut(options, toFleetItem(written), condition)) ? written : undefined
    },

    remove: async (fleet) => {
      try {
        await client.send(
          new DeleteCommand({ TableName: table, Key: fleetKey(fleet.name), ...isSameFleet(fleet) }),
        )
        return true
      } catch (error) {
        if (isConflict(error) || error instanceof ConditionalCheckFailedException) return false
        throw error
      }
    },
  }
}
