import { alarms as named } from '../lib/model/alarm.ts'
import { lambdaFunctions } from './functions.ts'
import { inStage, logical, ref } from './names.ts'

const runbook = 'See docs/runbook.md'
const quarter = 900

/** What a person has to know, sent to one topic, and when it is over. */
export const alarms = () => ({
  // Not encrypted by a key: CloudWatch may not use the one that AWS has for SNS. Alarms carry no secret.
  AlarmTopic: { Type: 'AWS::SNS::Topic', Properties: { TopicName: inStage('alarms') } },
  ...Object.fromEntries(named.map((name) => [`${name}Alarm`, namedAlarm(name)])),
  DeadLettersAlarm: alarm('DeadLetters', `Steps failed at every delivery. ${runbook}, "Dead letters".`, {
    Namespace: 'AWS/SQS',
    MetricName: 'ApproximateNumberOfMessagesVisible',
    Dimensions: [{ Name: 'QueueName', Value: inStage('dead-letters') }],
    Statistic: 'Maximum',
    Period: 300,
  }),
  ApiFaultsAlarm: alarm('ApiFaults', `The API answered with 5xx. ${runbook}#api-faults`, {
    Namespace: 'AWS/ApiGateway',
    MetricName: '5xx',
    Dimensions: [{ Name: 'ApiId', Value: ref('HttpApi') }],
    Statistic: 'Sum',
    Period: quarter,
  }),
  ...Object.fromEntries(
    lambdaFunctions.flatMap(({ name }) =>
      ['Errors', 'Throttles'].map((metric) => [
        `${logical(name)}${metric}Alarm`,
        functionAlarm(name, metric),
      ]),
    ),
  ),
})

const namedAlarm = (name: string) =>
  alarm(name, `${runbook}#${name.toLowerCase()}`, {
    Namespace: 'Berth',
    MetricName: name,
    Dimensions: [{ Name: 'service', Value: 'berth' }],
    Statistic: 'Sum',
    Period: quarter,
  })

const functionAlarm = (name: string, metric: string) =>
  alarm(`${name}-${metric}`, `${metric} of the function ${name}: its log says why. ${runbook}.`, {
    Namespace: 'AWS/Lambda',
    MetricName: metric,
    Dimensions: [{ Name: 'FunctionName', Value: inStage(name) }],
    Statistic: 'Sum',
    Period: quarter,
  })

const alarm = (name: string, description: string, metric: object) => ({
  Type: 'AWS::CloudWatch::Alarm',
  Properties: {
    AlarmName: inStage(name),
    AlarmDescription: description,
    ...metric,
    ComparisonOperator: 'GreaterThanThreshold',
    Threshold: 0,
    EvaluationPeriods: 1,
    TreatMissingData: 'notBreaching',
    AlarmActions: [ref('AlarmTopic')],
    OKActions: [ref('AlarmTopic')],
  },
})
