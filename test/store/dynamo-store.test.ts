import { afterAll, beforeAll } from 'vitest'
import { testDynamo } from '../support/dynamo.ts'
import { testStore } from './conformance.ts'

let dynamo: Awaited<ReturnType<typeof testDynamo>>
beforeAll(async () => {
  dynamo = await testDynamo()
})
afterAll(() => dynamo.stop())

testStore('the DynamoDB store', () => dynamo.emptyStore())
