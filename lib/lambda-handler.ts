import type { Context } from 'aws-lambda'
import { logger } from './lambda-log.ts'

/** A handler as Lambda calls it: each line that it logs names its invocation, and whether that began a process. */
export const lambdaHandler =
  <Event, Result>(handle: (event: Event, invocation: Context) => Promise<Result>) =>
  (event: Event, invocation: Context): Promise<Result> => {
    logger.addContext(invocation)
    return handle(event, invocation)
  }
