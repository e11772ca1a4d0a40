import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb'
import { sweep } from '../lib/lifecycle/sweep.ts'
import { toItem } from '../lib/store/instance-item.ts'
import { anIdleInstance } from '../test/support/instances.ts'
import { startWorld } from '../test/support/world.ts'
import { startTable } from './table.ts'

const batch = 25

/** The read units of one sweep over so many instances of which so many are due. */
export const sweepUnits = async (instances: number, due: number) => {
  const { client, table, store, observer, meter, stop } = await startTable()
  const world = await startWorld(store, { observer })
  try {
    const now = world.clock.now()
    const items = Array.from({ length: instances }, (_, index) => {
      const sweepAt = index < due ? now - 1000 : now + 3_600_000
      return toItem(
        anIdleInstance({ id: `i-${index.toString(16).padStart(12, '0')}`, sweepAt, nextCheckAt: sweepAt }),
      )
    })
    for (let at = 0; at < items.length; at += batch) {
      const puts = items.slice(at, at + batch).map((Item) => ({ PutRequest: { Item } }))
      await client.send(new BatchWriteCommand({ RequestItems: { [table]: puts } }))
    }
    meter.reset()
    const found = await sweep(world.ctx)
    return { instances, due: found.due, readUnits: meter.read, writeUnits: meter.write }
  } finally {
    await world.stop()
    await stop()
  }
}
