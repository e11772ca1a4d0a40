import { afterAll, afterEach, beforeAll } from 'vitest'
import type { Store } from '../../lib/store/store.ts'
import { createMemoryStore } from '../fakes/memory-store.ts'
import { countingRandom } from './counting-random.ts'
import { testDynamo } from './dynamo.ts'
import { startWorld, type World } from './world.ts'

type StartWorld = (options?: Parameters<typeof startWorld>[1]) => Promise<World>

/** Worlds for the tests of one file: a DynamoDB engine for all, and for each world a table and a cloud of its own. */
export const worldSuite = (): StartWorld => {
  let dynamo: Awaited<ReturnType<typeof testDynamo>>
  beforeAll(async () => {
    dynamo = await testDynamo()
  })
  afterAll(() => dynamo.stop())
  return worldsWith(() => dynamo.emptyStore())
}

/**
 * Worlds without an engine, for rules that need many minutes to show: each is a sweep and its reads, which the store in
 * memory, held to DynamoDB's by one conformance suite, does in no time.
 */
export const longWorldSuite = (): StartWorld =>
  worldsWith(async () => createMemoryStore({ random: countingRandom() }))

const worldsWith = (emptyStore: () => Promise<Store>): StartWorld => {
  const worlds: World[] = []
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.stop()
  })
  return async (options) => {
    const world = await startWorld(await emptyStore(), options)
    worlds.push(world)
    return world
  }
}

export const bareMetal = { gpu: 'MI300X:192GB:8', instanceTypes: ['bm-mi300x-8'] }
export const vm = { gpu: 'MI300X:1' }
export const minute = 60_000
