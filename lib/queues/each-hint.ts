import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch'
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import type { Clock } from '../model/clock.ts'
import { messageOf } from '../model/errors.ts'
import type { Log } from '../model/log.ts'
import type { Step } from '../model/step.ts'
import { hint, mostReceives, type Queues } from './queues.ts'

type Ports = { queues: Queues; clock: Clock; log: Log }

/** Enough for an error of AWS with its address; a message may have 256 KB. */
const longestReason = 2000

/**
 * Handles each hint of a batch by itself; those that failed are delivered again, the others are not. A message that is
 * no hint is acknowledged with a logged reason, since it would be none the next time either. One that fails at its last
 * delivery goes among the dead letters with the reason, which SQS could not tell.
 */
export const eachHint = (
  event: SQSEvent,
  ports: Ports,
  step: Step,
  handle: (instanceId: string) => Promise<void>,
): Promise<SQSBatchResponse> => {
  const { log } = ports
  const handleRecord = async (record: SQSRecord) => {
    const read = readHint(record.body)
    if ('problem' in read) {
      log.error('a malformed message is dropped', { messageId: record.messageId, problem: read.problem })
      return
    }
    const { instanceId } = read
    try {
      await handle(instanceId)
    } catch (error) {
      const receives = Number(record.attributes.ApproximateReceiveCount)
      const stack = error instanceof Error ? error.stack : undefined
      const failure = { instanceId, step, receives, error: messageOf(error), stack }
      if (receives >= mostReceives && (await buried(ports, failure))) return
      log.error('a step failed; the message is delivered again', failure)
      throw error
    }
  }
  const processor = new BatchProcessor(EventType.SQS)
  return processPartialResponse(event, handleRecord, processor, { throwOnFullBatchFailure: false })
}

type Failure = { instanceId: string; step: Step; receives: number; error: string; stack: string | undefined }

/** False when it could not be sent: then SQS moves the message itself, without a reason. */
const buried = async ({ queues, clock, log }: Ports, failure: Failure): Promise<boolean> => {
  const { instanceId, step, receives, error } = failure
  const reason = error.slice(0, longestReason)
  try {
    await queues.bury({ instanceId, step, reason, receives, at: new Date(clock.now()).toISOString() })
  } catch (cause) {
    log.error('a message could not be put among the dead letters', {
      instanceId,
      step,
      error: messageOf(cause),
    })
    return false
  }
  log.error('a step failed at every delivery; its message is among the dead letters', failure)
  return true
}

const readHint = (body: string): { instanceId: string } | { problem: string } => {
  try {
    const read = hint.safeParse(JSON.parse(body))
    return read.success ? read.data : { problem: read.error.issues.map(({ message }) => message).join('; ') }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}
