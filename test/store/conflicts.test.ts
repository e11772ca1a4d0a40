import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { createDynamoClient } from '../../lib/store/dynamo-client.ts'
import { createFleets } from '../../lib/store/dynamo-fleets.ts'
import { createInstances } from '../../lib/store/dynamo-instances.ts'
import { createSpending } from '../../lib/store/dynamo-spending.ts'
import { countingRandom } from '../support/counting-random.ts'
import { testDynamo } from '../support/dynamo.ts'
import { aFleet } from '../support/fleets.ts'
import { anInstance } from '../support/instances.ts'

test('a transaction that met another one (TransactionConflict) is tried again, not a 500', async () => {
  let sends = 0
  const client = createDynamoClient({ region: 'x', credentials: { accessKeyId: 'x', secretAccessKey: 'x' } })
  client.send = async () => {
    sends += 1
    if (sends > 1) return {}
    throw new TransactionCanceledException({
      message: 'cancelled',
      $metadata: {},
      CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
    })
  }
  const store = createInstances({ client, table: 't', random: countingRandom() })
  const once = { scope: 'alice', key: 'k', fingerprint: 'f' }
  await expect(store.create(anInstance(), { once })).resolves.toEqual({})
})

test('a write whose answer got lost, and which the SDK sends again, counts as done, once', async () => {
  const dynamo = await testDynamo({ sendTwice: true })
  const store = await dynamo.emptyStore()
  const made = anInstance()
  await store.create(made)
  const both = [store.update(made, { ...made, name: 'left' }), store.update(made, { ...made, name: 'right' })]
  const written = (await Promise.all(both)).filter((result) => result !== undefined)
  expect(written).toHaveLength(1)
  expect(await store.get(made.id)).toEqual(written[0])
  await dynamo.stop()
})

describe('a plain write that meets a transaction at the same item is one that somebody else was before', () => {
  const inConflict = () => {
    const client = createDynamoClient({
      region: 'x',
      credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
    })
    client.send = async () => {
      throw new TransactionConflictException({
        message: 'Transaction is ongoing for the item',
        $metadata: {},
      })
    }
    return { client, table: 't', random: countingRandom() }
  }

  test('of a fleet', async () => {
    const fleets = createFleets(inConflict())
    expect(await fleets.put(aFleet(), aFleet({ desired: 1 }))).toBeUndefined()
    expect(await fleets.remove(aFleet())).toBe(false)
  })

  test('of what is committed', async () => {
    const next = { madeAt: 1, live: [], settled: {} }
    expect(await createSpending(inConflict()).putSpend({ before: undefined, next })).toBe(false)
  })
})
