import { mostReceives } from '../lib/queues/queues.ts'
import { lambdaFunctions } from './functions.ts'
import { arn, arnOf, inStage, logical } from './names.ts'

export const queueId = (name: string): string => `${logical(name)}Queue`

/** One queue for each step, and one for the dead letters of all. */
export const queues = () => ({
  ...Object.fromEntries(
    stepFunctions().map(({ step, seconds }) => [queueId(step), stepQueue(step, seconds)]),
  ),
  [queueId('dead-letters')]: {
    Type: 'AWS::SQS::Queue',
    Properties: {
      QueueName: inStage('dead-letters'),
      SqsManagedSseEnabled: true,
      // The longest that SQS has.
      MessageRetentionPeriod: 14 * 86_400,
      RedriveAllowPolicy: {
        redrivePermission: 'byQueue',
        // By name: each of them names this one.
        sourceQueueArns: stepFunctions().map(({ step }) => arn('sqs', inStage(step))),
      },
    },
  },
})

const stepQueue = (step: string, seconds: number) => ({
  Type: 'AWS::SQS::Queue',
  Properties: {
    QueueName: inStage(step),
    SqsManagedSseEnabled: true,
    // Six times the function's time-out, as AWS asks for queues that start functions.
    VisibilityTimeout: 6 * seconds,
    MessageRetentionPeriod: 4 * 86_400,
    RedrivePolicy: {
      deadLetterTargetArn: arnOf(queueId('dead-letters')),
      maxReceiveCount: mostReceives,
    },
  },
})

const stepFunctions = () =>
  lambdaFunctions.flatMap(({ seconds, trigger }) =>
    trigger.by === 'queue' ? [{ step: trigger.step, seconds }] : [],
  )
