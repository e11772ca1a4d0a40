import middy from '@middy/core'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import type { Context } from '../context.ts'
import type { Step } from '../model/step.ts'
import { eachHint } from '../queues/each-hint.ts'

/** The handler of one step's queue: each hint leads to one visit of its instance. */
export const stepHandler = (
  context: () => Promise<Context>,
  step: Step,
  visit: (ctx: Context, instanceId: string) => Promise<void>,
) =>
  middy<SQSEvent, SQSBatchResponse>().handler(async (event) => {
    const ctx = await context()
    return eachHint(event, ctx, step, (instanceId) => visit(ctx, instanceId))
  })
