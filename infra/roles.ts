import { type LambdaFunction, lambdaFunctions } from './functions.ts'
import { arn, arnOf, inStage, logical, stage, tableName } from './names.ts'
import { queueId } from './queues.ts'

export const roleId = (name: string): string => `${logical(name)}Role`

/** Where the settings and the SSH key are kept, each a SecureString. CloudFormation cannot make such. */
export const parameters = { settings: `/berth/${stage}/settings`, sshKey: `/berth/${stage}/ssh-key` }

/** A role for each function, with what infra/functions.ts says of it and nothing else. */
export const roles = () =>
  Object.fromEntries(lambdaFunctions.map((each) => [roleId(each.name), roleOf(each)]))

const roleOf = (each: LambdaFunction) => ({
  Type: 'AWS::IAM::Role',
  Properties: {
    AssumeRolePolicyDocument: {
      Version: '2012-10-17',
      Statement: [
        { Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' },
      ],
    },
    Policies: [
      { PolicyName: 'berth', PolicyDocument: { Version: '2012-10-17', Statement: statementsOf(each) } },
    ],
  },
})

const statementsOf = ({ name, table, queries, sends, settings, trigger }: LambdaFunction) => {
  const items = table.filter((action) => action !== 'Query')
  const own = trigger.by === 'queue' ? [arnOf(queueId(trigger.step))] : []
  return [
    // The streams of its own log group, whose names nobody knows beforehand.
    allow(
      ['logs:CreateLogStream', 'logs:PutLogEvents'],
      [arn('logs', `log-group:/aws/lambda/${inStage(name)}:*`)],
    ),
    // Traces have no resource that could be named.
    { Effect: 'Allow', Action: ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], Resource: ['*'] },
    allow(
      items.map((action) => `dynamodb:${action}`),
      [arnOf('Table')],
    ),
    allow(
      ['dynamodb:Query'],
      queries.map((of) =>
        of === 'table' ? arnOf('Table') : arn('dynamodb', `table/${tableName}/index/${of}`),
      ),
    ),
    allow(
      ['sqs:SendMessage'],
      sends.map((queue) => arnOf(queueId(queue))),
    ),
    allow(['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], own),
    allow(
      ['ssm:GetParameter', 'ssm:GetParameters'],
      settings ? Object.values(parameters).map((path) => arn('ssm', `parameter${path}`)) : [],
    ),
  ].flat()
}

const allow = (Action: string[], Resource: object[]) =>
  Action.length === 0 || Resource.length === 0 ? [] : [{ Effect: 'Allow', Action, Resource }]
