import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { z } from 'zod'
import type { Step } from '../model/step.ts'

/** The longest delay of an SQS message. What is due later is left to the sweep. */
export const longestDelayMs = 900_000

/** What every queue carries: a hint that an instance's next step may be due. */
export const hint = z.object({ instanceId: z.string().min(1) })

/** One typed send; a queue for each step. */
export interface Queues {
  /** Delivers the hint about `delayMs` from now, once or more, or never: nothing may depend on it. */
  send(step: Step, instanceId: string, delayMs: number): Promise<void>
}

/** SQS counts whole seconds; a part of one is rounded up, so that a hint is not early. */
export const createSqsQueues = (options: { client: SQSClient; urls: Record<Step, string> }): Queues => ({
  send: async (step, instanceId, delayMs) => {
    await options.client.send(
      new SendMessageCommand({
        QueueUrl: options.urls[step],
        MessageBody: JSON.stringify({ instanceId } satisfies z.infer<typeof hint>),
        DelaySeconds: Math.ceil(Math.min(delayMs, longestDelayMs) / 1000),
      }),
    )
  },
})
