import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import type { Random } from '../model/random.ts'
import { createApiKeys } from './dynamo-api-keys.ts'
import { createCatalogues } from './dynamo-catalogues.ts'
import { createFleets } from './dynamo-fleets.ts'
import { createInstances } from './dynamo-instances.ts'
import { createLocks } from './dynamo-locks.ts'
import { createSightings } from './dynamo-sightings.ts'
import { createSpending } from './dynamo-spending.ts'
import type { Store } from './store.ts'

export type DynamoOptions = { client: DynamoDBDocumentClient; table: string; random: Random }

/** The store on a DynamoDB table as in `table.ts`. Throws what the SDK throws after its own retries. */
export const createDynamoStore = (options: DynamoOptions): Store => ({
  ...createInstances(options),
  ...createSpending(options),
  ...createLocks(options),
  ...createApiKeys(options),
  owner: createOwner(options),
  catalogues: createCatalogues(options),
  sightings: createSightings(options),
  fleets: createFleets(options),
})

const ownerItem = z.object({ owner: z.string() })

/** Made on first use; of two that come at once, the one that wrote is right. Read once per process. */
const createOwner = ({ client, table, random }: DynamoOptions): (() => Promise<string>) => {
  const key = { pk: 'DEPLOYMENT', sk: 'DEPLOYMENT' }
  const read = async () => {
    const { Item } = await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }))
    return Item === undefined ? undefined : ownerItem.parse(Item).owner
  }
  const make = async (): Promise<string> => {
    const Item = { ...key, owner: random.hex(8) }
    try {
      await client.send(
        new PutCommand({ TableName: table, Item, ConditionExpression: 'attribute_not_exists(pk)' }),
      )
      return Item.owner
    } catch (error) {
      const made = await read()
      if (made === undefined) throw error
      return made
    }
  }
  let known: string | undefined
  return async () => {
    known ??= (await read()) ?? (await make())
    return known
  }
}
