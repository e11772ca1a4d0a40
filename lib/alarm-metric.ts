import type { Alarm } from './model/alarm.ts'

/**
 * A line in CloudWatch's embedded metric format: on the standard output of a function it counts one alarm of that name.
 * Source: "Specification: Embedded metric format" in the guide of CloudWatch.
 */
export const alarmMetric = (name: Alarm, at: number): string => {
  const metric = { Namespace: 'Berth', Dimensions: [['service']], Metrics: [{ Name: name, Unit: 'Count' }] }
  const line = { _aws: { Timestamp: at, CloudWatchMetrics: [metric] }, service: 'berth', [name]: 1 }
  return `${JSON.stringify(line)}\n`
}
