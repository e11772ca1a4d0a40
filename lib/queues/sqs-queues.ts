import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type * as z from 'zod'
import type { Step } from '../model/step.ts'
import { type hint, longestDelayMs, type Queues } from './queues.ts'

export type QueueAddresses = {
  urls: Record<Step, string>
  /** The dead-letter queue of them all: SQS itself moves there what could not be buried. */
  deadLetters: string
}

/** SQS counts whole seconds; a part of one is rounded up, so that a hint is not early. */
export const createSqsQueues = (options: QueueAddresses & { client: SQSClient }): Queues => ({
  send: async (step, instanceId, delayMs) => {
    await options.client.send(
      new SendMessageCommand({
        QueueUrl: options.urls[step],
        MessageBody: JSON.stringify({ instanceId } satisfies z.infer<typeof hint>),
        DelaySeconds: Math.ceil(Math.min(delayMs, longestDelayMs) / 1000),
      }),
    )
  },
  bury: async (letter) => {
    await options.client.send(
      new SendMessageCommand({ QueueUrl: options.deadLetters, MessageBody: JSON.stringify(letter) }),
    )
  },
})
