import { CreateTableCommand } from '@aws-sdk/client-dynamodb'
import { createDynamoClient } from '../../lib/store/dynamo-client.ts'
import { createDynamoStore } from '../../lib/store/dynamo-store.ts'
import type { Store } from '../../lib/store/store.ts'
import { tableDefinition } from '../../lib/store/table.ts'
import { startDynamo } from '../../sandbox/local/dynoxide.ts'
import { countingRandom } from './counting-random.ts'

/** One engine in memory for a test file, and as many empty tables as it likes. `sendTwice`: each write goes out twice, as when an answer gets lost. */
export const testDynamo = async ({
  sendTwice = false,
} = {}): Promise<{
  emptyStore: () => Promise<Store>
  stop: () => Promise<void>
}> => {
  const engine = await startDynamo({ endpoint: process.env.DYNAMODB_ENDPOINT })
  const client = createDynamoClient(engine.config)
  if (sendTwice) {
    client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          if (commandName === 'PutCommand') await next(args)
          return next(args)
        },
      { step: 'initialize', name: 'sendTwice' },
    )
  }
  let tables = 0
  return {
    emptyStore: async () => {
      const table = `berth-test-${process.pid}-${++tables}`
      await client.send(new CreateTableCommand(tableDefinition(table)))
      return createDynamoStore({ client, table, random: countingRandom() })
    },
    stop: async () => {
      client.destroy()
      await engine.stop()
    },
  }
}
