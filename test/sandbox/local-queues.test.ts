import { PassThrough } from 'node:stream'
import { type Message, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eachHint } from '../../lib/queues/each-hint.ts'
import { mostReceives, type Queues } from '../../lib/queues/queues.ts'
import { plainLog } from '../../sandbox/local/plain-log.ts'
import { type LocalQueues, startQueues } from '../../sandbox/local/queues.ts'

let queues: LocalQueues
let client: SQSClient
beforeEach(async () => {
  queues = await startQueues({ speed: () => 1, visibilitySeconds: 1 })
  client = new SQSClient({
    endpoint: queues.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
})
afterEach(async () => {
  client.destroy()
  await queues.stop()
})

const idle = async () => ({ batchItemFailures: [] })

/** Lets the step of every termination fail, as the local runner would call it; what it tells, and how often it tried. */
const failAll = (bury: Queues['bury']) => {
  const stderr = new PassThrough({ encoding: 'utf8' })
  let tries = 0
  const ports = {
    queues: { ...queues.queues, bury },
    log: plainLog(new PassThrough(), stderr),
    clock: { now: () => Date.UTC(2030, 0, 1) },
  }
  queues.consume(
    {
      provision: idle,
      bootstrap: idle,
      check: idle,
      terminate: (event) =>
        eachHint(event, ports, 'terminate', async () => {
          tries += 1
          throw new Error('the table does not answer')
        }),
    },
    () => {},
  )
  return { tries: () => tries, told: () => String(stderr.read()) }
}

const firstDeadLetter = async (): Promise<Message> => {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({ QueueUrl: queues.deadLetters, WaitTimeSeconds: 20, VisibilityTimeout: 0 }),
  )
  const [message] = Messages
  if (!message) throw new Error('there is no dead letter')
  return message
}

test('a hint whose step fails each time is tried five times, and then a dead letter that says why', async () => {
  const { tries, told } = failAll(queues.queues.bury)
  await queues.queues.send('terminate', 'i-000000000001', 0)
  const letter = await firstDeadLetter()
  expect(JSON.parse(letter.Body ?? '')).toEqual({
    instanceId: 'i-000000000001',
    step: 'terminate',
    reason: 'the table does not answer',
    receives: mostReceives,
    at: '2030-01-01T00:00:00.000Z',
  })
  expect(tries()).toBe(mostReceives)
  const lines = told().trim().split('\n')
  expect(lines).toHaveLength(mostReceives)
  expect(lines.at(-1)).toMatch(
    /error: i-000000000001: a step failed at every delivery; its message is among the dead letters \(step=terminate, receives=5, error=the table does not answer\)/,
  )
}, 30_000)

test('one that can not be buried is moved by the queue itself, as it is', async () => {
  const { tries } = failAll(() => Promise.reject(new Error('no such queue')))
  await queues.queues.send('terminate', 'i-000000000002', 0)
  expect(JSON.parse((await firstDeadLetter()).Body ?? '')).toEqual({ instanceId: 'i-000000000002' })
  expect(tries()).toBe(mostReceives)
}, 30_000)
