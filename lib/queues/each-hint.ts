import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch'
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { messageOf } from '../model/errors.ts'
import type { Log } from '../model/log.ts'
import { hint } from './queues.ts'

/**
 * Handles each hint of a batch by itself; those that failed are delivered again, the others are not. A message that is
 * no hint is acknowledged with a logged reason, since it would be none the next time either.
 */
export const eachHint = (
  event: SQSEvent,
  log: Log,
  handle: (instanceId: string) => Promise<void>,
): Promise<SQSBatchResponse> => {
  const handleRecord = async (record: SQSRecord) => {
    const read = readHint(record.body)
    if ('problem' in read) {
      log.error('a malformed message is dropped', { messageId: record.messageId, problem: read.problem })
      return
    }
    try {
      await handle(read.instanceId)
    } catch (error) {
      log.error('a step failed; the message is delivered again', {
        instanceId: read.instanceId,
        error: messageOf(error),
        stack: error instanceof Error ? error.stack : undefined,
      })
      throw error
    }
  }
  const processor = new BatchProcessor(EventType.SQS)
  return processPartialResponse(event, handleRecord, processor, { throwOnFullBatchFailure: false })
}

const readHint = (body: string): { instanceId: string } | { problem: string } => {
  try {
    const read = hint.safeParse(JSON.parse(body))
    return read.success ? read.data : { problem: read.error.issues.map(({ message }) => message).join('; ') }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}
