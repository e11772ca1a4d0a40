import { SQSClient } from '@aws-sdk/client-sqs'
import type { Queues } from './queues.ts'
import { createSqsQueues, type QueueAddresses } from './sqs-queues.ts'

/** Queues on AWS. A module of its own, so that a bundle takes of SQS's client what is used, and late. */
export const openSqs = (where: QueueAddresses): Queues =>
  createSqsQueues({ client: new SQSClient({}), ...where })
