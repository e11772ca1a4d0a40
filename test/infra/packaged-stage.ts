import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import * as z from 'zod'
import { runBundle } from '../../bench/run-bundle.ts'
import { packageFolder } from '../../infra/write-pieces.ts'
import { hashOf } from '../../lib/http/authorize.ts'
import type { Instance } from '../../lib/model/instance.ts'
import { steps } from '../../lib/model/step.ts'
import { newKeyPair } from '../../lib/shim/key-pair.ts'
import { createDynamoClient } from '../../lib/store/dynamo-client.ts'
import { createDynamoStore } from '../../lib/store/dynamo-store.ts'
import { startDynamo } from '../../sandbox/local/dynoxide.ts'
import { startQueues } from '../../sandbox/local/queues.ts'
import { startSimulatedClouds } from '../../sandbox/local/simulated-clouds.ts'
import { answered, checkAnswer } from '../support/answers-as-documented.ts'
import { countingRandom } from '../support/counting-random.ts'
import { startRecorder } from './recorder.ts'
import { unzip } from './unzip.ts'

const strideMs = 150_000
const apiKey = 'berth_a_key_for_the_packaged_functions'
const authorized = z.object({ isAuthorized: z.literal(true), context: z.record(z.string(), z.string()) })

/**
 * The packages as they would lie on Lambda, each called in a process of its own, with local engines, both simulated
 * clouds and machines behind real SSH. Time goes on by itself and jumps ahead when told.
 */
export const startPackagedStage = async (names: string[]) => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-packaged-'))
  for (const name of names) unzip(readFileSync(join(packageFolder, `${name}.zip`)), join(folder, name))
  let aheadMs = 0
  const clock = { now: () => Date.now() + aheadMs }
  const dynamo = await startDynamo({})
  const queues = await startQueues({ speed: () => 1 })
  const recorder = await startRecorder({ dynamo: String(dynamo.config.endpoint), sqs: queues.endpoint })
  const clouds = await startSimulatedClouds({ folder, clock, wallClock: clock })
  const client = createDynamoClient(dynamo.config)
  const store = createDynamoStore({ client, table: dynamo.table, random: countingRandom() })
  await store.addApiKey({ hash: hashOf(apiKey), name: 'alice', role: 'operator', createdAt: 0 })
  const sqs = new SQSClient({
    endpoint: queues.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })

  const recorded = (url: string) => url.replace(queues.endpoint, recorder.url)
  const environment = {
    PATH: process.env.PATH ?? '',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: recorder.url,
    AWS_ENDPOINT_URL_SQS: recorder.url,
    POWERTOOLS_LOG_LEVEL: 'SILENT',
    BERTH_TABLE: dynamo.table,
    BERTH_SETTINGS: JSON.stringify({ ...clouds.settings, ssh: { private_key: newKeyPair().privateKey } }),
    BERTH_QUEUE_PROVISION: recorded(queues.urls.provision),
    BERTH_QUEUE_BOOTSTRAP: recorded(queues.urls.bootstrap),
    BERTH_QUEUE_CHECK: recorded(queues.urls.check),
    BERTH_QUEUE_TERMINATE: recorded(queues.urls.terminate),
    BERTH_QUEUE_DEAD_LETTERS: recorded(queues.deadLetters),
    NODE_COMPILE_CACHE: join(tmpdir(), 'berth-test-compiled'),
  }
  const call = async (name: string, event: object): Promise<unknown> => {
    const env = { ...environment, AWS_SDK_UA_APP_ID: name }
    return (await runBundle(join(folder, name, `${name}.mjs`), event, env, aheadMs)).answer
  }

  let context: Record<string, string> | undefined
  /** As API Gateway does: first who may, then the answer. */
  const request = async (name: string, method: string, path: string, body?: object) => {
    // Remembered for a key, as API Gateway does for a minute.
    context ??= authorized.parse(
      await call('authorize', { headers: { authorization: `Bearer ${apiKey}` } }),
    ).context
    const answer = answered.parse(await call(name, httpEvent({ method, path, body, context })))
    checkAnswer(method, path, answer)
    return { status: answer.status, body: JSON.parse(answer.body) }
  }

  /** Hands every message that waits to its function, as an event source does. */
  const deliver = async (): Promise<void> => {
    for (const step of steps) {
      const QueueUrl = queues.urls[step]
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 0 }),
      )
      for (const { Body = '', ReceiptHandle } of Messages) {
        const record = { messageId: 'm-1', body: Body, eventSource: 'aws:sqs', attributes: receivedOnce }
        const answer = await call(step, { Records: [record] })
        const failed = z.object({ batchItemFailures: z.array(z.unknown()) }).parse(answer)
        if (failed.batchItemFailures.length > 0) throw new Error(`${step} failed`)
        await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
      }
    }
  }

  /**
   * Lets the schedule do its work until the instance is there: time jumps to when its next step is due, or further,
   * since each visit takes a process of its own.
   */
  const until = async (id: string, arrived: (instance: Instance) => boolean): Promise<Instance> => {
    for (let turn = 0; turn < 20; turn++) {
      const instance = await store.get(id)
      if (!instance) throw new Error(`${id} is not there`)
      if (arrived(instance)) return instance
      aheadMs += Math.max(strideMs, (instance.nextCheckAt ?? 0) - clock.now())
      await call('idle-check', {})
      await deliver()
    }
    throw new Error(`${id} did not arrive: ${JSON.stringify((await store.get(id))?.events)}`)
  }

  return {
    call,
    request,
    until,
    clouds,
    recorder,
    stop: async () => {
      client.destroy()
      sqs.destroy()
      await clouds.stop()
      await recorder.stop()
      await queues.stop()
      await dynamo.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const receivedOnce = { ApproximateReceiveCount: '1' }

const httpEvent = (asked: { method: string; path: string; body: object | undefined; context: object }) => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: asked.path,
  rawQueryString: '',
  headers: {},
  requestContext: {
    http: {
      method: asked.method,
      path: asked.path,
      protocol: 'HTTP/1.1',
      sourceIp: '192.0.2.1',
      userAgent: 'test',
    },
    authorizer: { lambda: asked.context },
  },
  isBase64Encoded: false,
  ...(asked.body && { body: JSON.stringify(asked.body) }),
})
