import { type Message, SQSClient } from '@aws-sdk/client-sqs'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { startFauxqs } from 'fauxqs'
import { Consumer } from 'sqs-consumer'
import { type Step, steps } from '../../lib/model/step.ts'
import { longestDelayMs, mostReceives, type Queues } from '../../lib/queues/queues.ts'
import { createSqsQueues } from '../../lib/queues/sqs-queues.ts'

/** How many batches of one queue are handled at once, as with a function's reserved concurrency. */
const concurrency = 4
const visibilitySeconds = 720

export type LocalQueues = {
  /** Where SQS is, and the queue of each step. */
  endpoint: string
  urls: Record<Step, string>
  /** The queue of the dead letters of all steps. */
  deadLetters: string
  queues: Queues
  /** Starts to hand messages to the functions. */
  consume(
    handlers: Record<Step, (event: SQSEvent) => Promise<SQSBatchResponse>>,
    onError: (error: Error) => void,
  ): void
  stop(): Promise<void>
}

/**
 * SQS by fauxqs, in memory, a queue for each step, and one for the dead letters of all; delays run at the speed of the
 * sandbox, but not the time (in real seconds) after which a message whose step failed is delivered again.
 */
export const startQueues = async (options: {
  speed: () => number
  visibilitySeconds?: number
}): Promise<LocalQueues> => {
  const server = await startFauxqs({ port: 0, host: '127.0.0.1', logger: false })
  const endpoint = `http://127.0.0.1:${server.port}`
  const client = new SQSClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  makeQueues(server, options.visibilitySeconds ?? visibilitySeconds)
  const urlOf = (name: Step | typeof dead) => `${endpoint}/${account}/${nameOf(name)}`
  const deadLetters = urlOf(dead)
  const urls = {
    provision: urlOf('provision'),
    bootstrap: urlOf('bootstrap'),
    check: urlOf('check'),
    terminate: urlOf('terminate'),
  } satisfies Record<Step, string>
  const sped = sendFaster(createSqsQueues({ client, urls, deadLetters }), options.speed)
  let consumers: Consumer[] = []
  return {
    endpoint,
    urls,
    deadLetters,
    queues: sped.queues,
    consume: (handlers, onError) => {
      consumers = steps.flatMap((step) =>
        Array.from({ length: concurrency }, () => consume(client, urls[step], handlers[step], onError)),
      )
    },
    stop: async () => {
      sped.stop()
      const stopped = consumers.map((consumer) => new Promise((resolve) => consumer.once('stopped', resolve)))
      for (const consumer of consumers) consumer.stop({ abort: true })
      await Promise.all(stopped)
      client.destroy()
      await server.stop()
    },
  }
}

const makeQueues = (server: Awaited<ReturnType<typeof startFauxqs>>, visibleAfterSeconds: number) => {
  const { queueArn } = server.createQueue(nameOf(dead))
  const redrive = { deadLetterTargetArn: queueArn, maxReceiveCount: mostReceives }
  for (const step of steps) {
    server.createQueue(nameOf(step), {
      attributes: { VisibilityTimeout: String(visibleAfterSeconds), RedrivePolicy: JSON.stringify(redrive) },
    })
  }
}

/** fauxqs's own name for the account; the address that it gives a queue is no valid URL when it is bound to an IP. */
const account = '000000000000'

const dead = 'dead-letters'

const nameOf = (name: Step | typeof dead) => `berth-${name}`

const consume = (
  client: SQSClient,
  queueUrl: string,
  handle: (event: SQSEvent) => Promise<SQSBatchResponse>,
  onError: (error: Error) => void,
): Consumer => {
  const consumer = Consumer.create({
    queueUrl,
    sqs: client,
    batchSize: 1,
    waitTimeSeconds: 20,
    // By which the handler knows the last delivery of a message.
    messageSystemAttributeNames: [
      'ApproximateReceiveCount',
      'SentTimestamp',
      'ApproximateFirstReceiveTimestamp',
    ],
    suppressFifoWarning: true,
    handleMessage: async (message) => {
      const { batchItemFailures } = await handle(eventOf(message, queueUrl))
      // Not acknowledged: SQS shows it again after its visibility time-out, and in the end to the dead-letter queue.
      return batchItemFailures.length > 0 ? undefined : message
    },
  })
  consumer.on('error', (error) => {
    // Stopping cuts the polls that are open.
    if (consumer.status.isRunning) onError(error)
  })
  consumer.on('processing_error', onError)
  consumer.start()
  return consumer
}

const eventOf = (message: Message, queueUrl: string): SQSEvent => ({
  Records: [
    {
      messageId: message.MessageId ?? '',
      receiptHandle: message.ReceiptHandle ?? '',
      body: message.Body ?? '',
      attributes: {
        ApproximateReceiveCount: message.Attributes?.ApproximateReceiveCount ?? '1',
        SentTimestamp: message.Attributes?.SentTimestamp ?? '0',
        SenderId: 'local',
        ApproximateFirstReceiveTimestamp: message.Attributes?.ApproximateFirstReceiveTimestamp ?? '0',
      },
      messageAttributes: {},
      md5OfBody: message.MD5OfBody ?? '',
      eventSource: 'aws:sqs',
      eventSourceARN: queueUrl,
      awsRegion: 'us-east-1',
    },
  ],
})

/** SQS delays count whole seconds, too coarse for a clock that runs fast: a delay under one second waits here. */
const sendFaster = (queues: Queues, speed: () => number): { queues: Queues; stop: () => void } => {
  const waiting = new Set<NodeJS.Timeout>()
  const send: Queues['send'] = async (step, instanceId, delayMs) => {
    const realMs = Math.ceil(Math.min(delayMs, longestDelayMs) / speed())
    if (realMs === 0 || realMs >= 1000) return queues.send(step, instanceId, realMs)
    const timer = setTimeout(() => {
      waiting.delete(timer)
      // A hint that gets lost is made good by the sweep.
      queues.send(step, instanceId, 0).catch(() => {})
    }, realMs)
    waiting.add(timer)
  }
  return { queues: { ...queues, send }, stop: () => waiting.forEach(clearTimeout) }
}
