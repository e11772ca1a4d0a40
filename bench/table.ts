import { CreateTableCommand } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createDynamoClient } from '../lib/store/dynamo-client.ts'
import { createDynamoStore } from '../lib/store/dynamo-store.ts'
import type { Store } from '../lib/store/store.ts'
import { tableDefinition } from '../lib/store/table.ts'
import { startDynamo } from '../sandbox/local/dynoxide.ts'
import { countingRandom } from '../test/support/counting-random.ts'
import { type CapacityMeter, meterCapacity } from './capacity-meter.ts'

export type BenchTable = {
  client: DynamoDBDocumentClient
  table: string
  /** What goes through this one is metered. */
  store: Store
  meter: CapacityMeter
  /** The same table, for the bench's own looks. */
  observer: Store
  stop(): Promise<void>
}

/** An engine in memory with one empty table. */
export const startTable = async (): Promise<BenchTable> => {
  const engine = await startDynamo({ endpoint: process.env.DYNAMODB_ENDPOINT })
  const metered = createDynamoClient(engine.config)
  const client = createDynamoClient(engine.config)
  const table = `berth-bench-${process.pid}-${Date.now()}`
  await client.send(new CreateTableCommand(tableDefinition(table)))
  const random = countingRandom()
  return {
    client,
    table,
    store: createDynamoStore({ client: metered, table, random }),
    meter: meterCapacity(metered),
    observer: createDynamoStore({ client, table, random }),
    stop: async () => {
      metered.destroy()
      client.destroy()
      await engine.stop()
    },
  }
}
