import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { lambdaLog } from '../../lib/lambda-log.ts'
import { alarms } from '../../lib/model/alarm.ts'
import { type Metric, metrics } from '../../lib/model/metric.ts'

/** As CloudWatch's specification of the embedded metric format says it; nothing but what Berth uses of it. */
const name = z.string().min(1).max(1024)
const embeddedMetric = z.looseObject({
  _aws: z.strictObject({
    Timestamp: z.int().positive(),
    CloudWatchMetrics: z
      .array(
        z.strictObject({
          Namespace: z
            .string()
            .min(1)
            .max(1024)
            .regex(/^[\w.\-/#:]+$/),
          Dimensions: z.array(z.array(z.string().min(1).max(250)).max(30)).min(1),
          Metrics: z
            .array(z.strictObject({ Name: name, Unit: z.enum(['Count', 'Seconds', 'None']) }))
            .min(1)
            .max(100),
        }),
      )
      .min(1),
  }),
})

const at = Date.UTC(2030, 0, 1)
const listen = () => {
  const out = new PassThrough({ encoding: 'utf8' })
  const log = lambdaLog({ clock: { now: () => at }, out })
  return { log, lines: (): string[] => (out.read() ?? '').split(/(?<=\n)/).filter(Boolean) }
}

test.each(alarms)('the alarm %s counts one in the metric of its name', (alarm) => {
  const { log, lines } = listen()
  log.alarm(alarm, 'something a person has to see to', { instanceId: 'i-000000000001' })
  const [line = '', ...more] = lines()
  expect(more).toEqual([])
  expect(line.endsWith('\n')).toBe(true)
  const read = embeddedMetric.parse(JSON.parse(line))
  expect(read._aws).toEqual({
    Timestamp: at,
    CloudWatchMetrics: [
      { Namespace: 'Berth', Dimensions: [['service']], Metrics: [{ Name: alarm, Unit: 'Count' }] },
    ],
  })
  // The targets that the directive names are members of the root: a dimension's is a string, a metric's a number.
  expect(read).toMatchObject({ service: 'berth', [alarm]: 1 })
})

test('what is no alarm counts nothing', () => {
  const { log, lines } = listen()
  log.info('told')
  log.warn('told')
  log.error('told')
  expect(lines()).toEqual([])
})

const names: Metric[] = ['SecondsToReady', 'Ended', 'LiveMachines', 'IdleMachines', 'PricePerHour']
test.each(names)('the metric %s is told with its unit, for what it is of', (metric) => {
  const { log, lines } = listen()
  log.metric(metric, 2.5, 'hotaisle')
  const { unit, by } = metrics[metric]
  const read = embeddedMetric.parse(JSON.parse(lines()[0] ?? ''))
  expect(read._aws.CloudWatchMetrics).toEqual([
    { Namespace: 'Berth', Dimensions: [['service', by]], Metrics: [{ Name: metric, Unit: unit }] },
  ])
  expect(read).toMatchObject({ service: 'berth', [by]: 'hotaisle', [metric]: 2.5 })
})

test('every metric is tried here', () => {
  expect(names.sort()).toEqual(Object.keys(metrics).sort())
})
