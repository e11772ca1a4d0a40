import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { APIGatewayProxyEventV2, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { functionFiles } from '../../infra/bundle.ts'
import { hashOf } from '../../lib/http/authorize.ts'
import { logger } from '../../lib/lambda-log.ts'
import { hint } from '../../lib/queues/queues.ts'
import { newKeyPair } from '../../lib/shim/key-pair.ts'
import { createDynamoClient } from '../../lib/store/dynamo-client.ts'
import { createDynamoStore } from '../../lib/store/dynamo-store.ts'
import {
  type SimulatedHotAisle,
  startSimulatedHotAisle,
} from '../../sandbox/clouds/hotaisle/simulated-hot-aisle.ts'
import { startDynamo } from '../../sandbox/local/dynoxide.ts'
import { invoke } from '../../sandbox/local/invoke.ts'
import { startQueues } from '../../sandbox/local/queues.ts'
import { createMachinesInMemory } from '../fakes/machines-in-memory.ts'
import { answered, checkAnswer } from '../support/answers-as-documented.ts'
import { countingRandom } from '../support/counting-random.ts'

const key = 'berth_a_key_for_the_functions_test'
let dynamo: Awaited<ReturnType<typeof startDynamo>>
let queues: Awaited<ReturnType<typeof startQueues>>
let cloud: SimulatedHotAisle

/** The functions as they are deployed: everything that they know comes from their environment. */
beforeAll(async () => {
  dynamo = await startDynamo({})
  queues = await startQueues({ speed: () => 1 })
  cloud = await startSimulatedHotAisle({
    clock: { now: () => Date.now() },
    machines: createMachinesInMemory(),
  })
  const settings = {
    backends: [
      { type: 'hotaisle', team_handle: cloud.team, creds: { api_key: cloud.apiKey }, api_url: cloud.url },
    ],
    ssh: { private_key: newKeyPair().privateKey },
  }
  const environment = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: String(dynamo.config.endpoint),
    AWS_ENDPOINT_URL_SQS: queues.endpoint,
    POWERTOOLS_LOG_LEVEL: 'SILENT',
    BERTH_TABLE: dynamo.table,
    BERTH_SETTINGS: JSON.stringify(settings),
    BERTH_QUEUE_PROVISION: queues.urls.provision,
    BERTH_QUEUE_BOOTSTRAP: queues.urls.bootstrap,
    BERTH_QUEUE_CHECK: queues.urls.check,
    BERTH_QUEUE_TERMINATE: queues.urls.terminate,
    BERTH_QUEUE_DEAD_LETTERS: queues.deadLetters,
  }
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  const client = createDynamoClient(dynamo.config)
  const store = createDynamoStore({ client, table: dynamo.table, random: countingRandom() })
  await store.addApiKey({ hash: hashOf(key), name: 'alice', role: 'operator', createdAt: 0 })
  client.destroy()
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await cloud.stop()
  await queues.stop()
  await dynamo.stop()
})

const httpEvent = (method: string, path: string, body?: object): APIGatewayProxyEventV2 => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: path,
  rawQueryString: '',
  headers: { authorization: `Bearer ${key}` },
  requestContext: {
    accountId: '1',
    apiId: 'a',
    domainName: 'd',
    domainPrefix: 'd',
    http: { method, path, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'test' },
    requestId: 'r',
    routeKey: '$default',
    stage: '$default',
    time: '',
    timeEpoch: 0,
    ...{ authorizer: { lambda: { name: 'alice', role: 'operator' } } },
  },
  isBase64Encoded: false,
  ...(body && { body: JSON.stringify(body) }),
})

const sqsEvent = (body: string, receives = 1): SQSEvent => ({
  Records: [
    {
      messageId: 'm-1',
      receiptHandle: 'r-1',
      body,
      attributes: {
        ApproximateReceiveCount: String(receives),
        SentTimestamp: '0',
        SenderId: 's',
        ApproximateFirstReceiveTimestamp: '0',
      },
      messageAttributes: {},
      md5OfBody: '',
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:us-east-1:1:berth-provision',
      awsRegion: 'us-east-1',
    },
  ],
})

const http = async (name: 'offers' | 'instances', event: APIGatewayProxyEventV2) => {
  const { handler } =
    name === 'offers'
      ? await import('../../functions/offers.ts')
      : await import('../../functions/instances.ts')
  const answer = answered.parse(await invoke(name, handler)(event))
  checkAnswer(event.requestContext.http.method, event.rawPath, answer)
  return { status: answer.status, body: JSON.parse(answer.body) }
}
const provision = async (body: string, receives = 1): Promise<SQSBatchResponse> => {
  const { handler } = await import('../../functions/provision.ts')
  return invoke('provision', handler)(sqsEvent(body, receives))
}
const sqs = () => new SQSClient({})
const deadLetters = async (): Promise<string[]> => {
  const got = await sqs().send(
    new ReceiveMessageCommand({ QueueUrl: queues.deadLetters, MaxNumberOfMessages: 10 }),
  )
  return (got.Messages ?? []).map(({ Body = '' }) => Body)
}

test('the functions rent a machine with nothing but their environment', async () => {
  const { handler: authorize } = await import('../../functions/authorize.ts')
  expect(await invoke('authorize', authorize)({ headers: { authorization: `Bearer ${key}` } })).toMatchObject(
    {
      isAuthorized: true,
      context: { name: 'alice' },
    },
  )
  expect((await http('offers', httpEvent('GET', '/offers'))).body.offers.length).toBeGreaterThan(0)

  const created = await http('instances', httpEvent('POST', '/instances', { gpu: 'MI300X:1' }))
  expect(created.status).toBe(202)
  expect(await provision(JSON.stringify({ instanceId: created.body.id }))).toEqual({ batchItemFailures: [] })

  const shown = await http('instances', httpEvent('GET', `/instances/${created.body.id}`))
  expect(shown.body).toMatchObject({ status: 'provisioning', phase: 'booting' })
  expect(cloud.ledger()).toHaveLength(1)

  const { handler: idleCheck } = await import('../../functions/idle-check.ts')
  expect(await invoke('idle-check', idleCheck)(undefined)).toEqual({ due: expect.any(Number) })
})

test.each(['not json', '{}', '{"instanceId": 7}', '[]', 'null'])(
  'a malformed message (%s) is acknowledged, not delivered for ever',
  async (body) => {
    expect(await provision(body)).toEqual({ batchItemFailures: [] })
  },
)

test('a hint for an instance that is not there, or not at this step, does nothing', async () => {
  expect(await provision(JSON.stringify({ instanceId: 'i-ffffffffffff' }))).toEqual({ batchItemFailures: [] })
})

describe('a step that fails', () => {
  /** The answer to a message whose step fails at its `receives`th delivery, and the instance that it is about. */
  const failing = async (receives: number) => {
    const { body } = await http(
      'instances',
      httpEvent('POST', '/instances', { gpu: 'MI300X:1', name: `fails-${receives}`, reuse: false }),
    )
    const { lambdaContext } = await import('../../lib/lambda-context.ts')
    const ctx = await lambdaContext()
    const { update } = ctx.store
    ctx.store.update = () => Promise.reject(new Error('throttled'))
    const answer = await provision(JSON.stringify({ instanceId: body.id }), receives)
    ctx.store.update = update
    return { answer, instanceId: z.string().parse(body.id) }
  }
  const again = { batchItemFailures: [{ itemIdentifier: 'm-1' }] }

  test.each([1, 4])('is delivered again after delivery %i', async (receives) => {
    expect((await failing(receives)).answer).toEqual(again)
    expect(await deadLetters()).toEqual([])
  })

  test('is not delivered again after its last delivery: it is a dead letter that says why', async () => {
    const { answer, instanceId } = await failing(5)
    expect(answer).toEqual({ batchItemFailures: [] })
    const [letter = '', ...more] = await deadLetters()
    expect(more).toEqual([])
    expect(JSON.parse(letter)).toEqual({
      instanceId,
      step: 'provision',
      reason: 'throttled',
      receives: 5,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    })
    // And a hint still, should somebody send it on.
    expect(hint.parse(JSON.parse(letter))).toEqual({ instanceId })
  })

  test('is left to SQS after its last delivery, when it can not be put among the dead letters', async () => {
    const { lambdaContext } = await import('../../lib/lambda-context.ts')
    const ctx = await lambdaContext()
    const { bury } = ctx.queues
    ctx.queues.bury = () => Promise.reject(new Error('no such queue'))
    expect((await failing(5)).answer).toEqual(again)
    ctx.queues.bury = bury
  })
})

test.each(functionFiles())('every line of %s names its invocation', async (file) => {
  const named = vi.spyOn(logger, 'addContext')
  const { handler }: { handler: (event: unknown, invocation: unknown) => Promise<unknown> } = await import(
    file
  )
  const invocation = { awsRequestId: 'request-1', functionName: 'berth' }
  await handler({ Records: [] }, invocation).catch(() => {})
  expect(named).toHaveBeenCalledWith(invocation)
  named.mockRestore()
})
