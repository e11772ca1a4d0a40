import { alarms } from '../lib/model/alarm.ts'
import type { Metric as MetricName } from '../lib/model/metric.ts'
import { backendType } from '../lib/model/offer.ts'
import { terminationReason } from '../lib/model/status.ts'
import { lambdaFunctions } from './functions.ts'
import { inStage, stage, tableName } from './names.ts'

type Metric = (string | object)[]

/** What happens, at one look. */
export const dashboard = () => ({
  Dashboard: {
    Type: 'AWS::CloudWatch::Dashboard',
    Properties: {
      DashboardName: `berth-${stage}`,
      DashboardBody: { 'Fn::Sub': JSON.stringify({ widgets: widgets() }) },
    },
  },
})

const widgets = () =>
  [
    graph(
      'Alarms',
      alarms.map((name): Metric => ['Berth', name, 'service', 'berth']),
    ),
    graph('Machines', [...ofBackends('LiveMachines'), ...ofBackends('IdleMachines')], 'Maximum'),
    graph('US dollars an hour', ofBackends('PricePerHour'), 'Maximum'),
    graph('From request to ready, median (s)', ofBackends('SecondsToReady'), 'p50'),
    graph(
      'Instances that ended',
      terminationReason.options.map(
        (reason): Metric => ['Berth', 'Ended', 'service', 'berth', 'reason', reason],
      ),
    ),
    graph('Calls', ofFunctions('Invocations')),
    graph('Errors', ofFunctions('Errors')),
    graph('Throttles', ofFunctions('Throttles')),
    graph('Time, 99th of 100 (ms)', ofFunctions('Duration'), 'p99'),
    graph('Hints that wait', ofQueues('ApproximateNumberOfMessagesVisible'), 'Maximum'),
    graph('Age of the oldest hint (s)', ofQueues('ApproximateAgeOfOldestMessage'), 'Maximum'),
    graph('Table: units used', [
      ['AWS/DynamoDB', 'ConsumedReadCapacityUnits', 'TableName', tableName],
      ['AWS/DynamoDB', 'ConsumedWriteCapacityUnits', 'TableName', tableName],
    ]),
  ].map((widget, n) => ({ ...widget, x: (n % 2) * 12, y: Math.floor(n / 2) * 6 }))

const ofBackends = (metric: MetricName): Metric[] =>
  backendType.options.map((backend) => ['Berth', metric, 'service', 'berth', 'backend', backend])

const ofFunctions = (metric: string): Metric[] =>
  lambdaFunctions.map(({ name }) => ['AWS/Lambda', metric, 'FunctionName', inStage(name)])

const ofQueues = (metric: string): Metric[] =>
  ['provision', 'bootstrap', 'check', 'terminate', 'dead-letters'].map((name) => [
    'AWS/SQS',
    metric,
    'QueueName',
    inStage(name),
  ])

const graph = (title: string, metrics: Metric[], stat = 'Sum') => ({
  type: 'metric',
  width: 12,
  height: 6,
  properties: { title, region: `\${AWS::Region}`, stat, period: 300, metrics },
})
