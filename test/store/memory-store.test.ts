import { createMemoryStore } from '../fakes/memory-store.ts'
import { countingRandom } from '../support/counting-random.ts'
import { testStore } from './conformance.ts'

testStore('the store in memory', async () => createMemoryStore({ random: countingRandom() }))
