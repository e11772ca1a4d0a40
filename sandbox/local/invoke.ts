import type { Context as LambdaContext } from 'aws-lambda'

/** Calls a function as Lambda does, with the context that it hands over. */
export const invoke =
  <Event, Result>(name: string, handler: (event: Event, lambda: LambdaContext) => Promise<Result>) =>
  (event: Event): Promise<Result> =>
    handler(event, lambdaContext(name))

/** As on AWS, where functions end after 100 s. */
const timeoutMs = 100_000

const lambdaContext = (functionName: string): LambdaContext => {
  const until = Date.now() + timeoutMs
  return {
    callbackWaitsForEmptyEventLoop: false,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${functionName}`,
    memoryLimitInMB: '512',
    awsRequestId: 'local',
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: 'local',
    getRemainingTimeInMillis: () => Math.max(0, until - Date.now()),
    done: () => {},
    fail: () => {},
    succeed: () => {},
  }
}
