import { afterAll, afterEach, beforeAll } from 'vitest'
import { testDynamo } from './dynamo.ts'
import { startWorld, type World } from './world.ts'

/** Worlds for the tests of one file: a DynamoDB engine for all, and for each world a table and a cloud of its own. */
export const worldSuite = (): ((options?: Parameters<typeof startWorld>[1]) => Promise<World>) => {
  let dynamo: Awaited<ReturnType<typeof testDynamo>>
  const worlds: World[] = []
  beforeAll(async () => {
    dynamo = await testDynamo()
  })
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.stop()
  })
  afterAll(() => dynamo.stop())
  return async (options) => {
    const world = await startWorld(await dynamo.emptyStore(), options)
    worlds.push(world)
    return world
  }
}

export const bareMetal = { gpu: 'MI300X:192GB:8', instanceTypes: ['bm-mi300x-8'] }
export const vm = { gpu: 'MI300X:1' }
export const minute = 60_000
