import { Logger } from '@aws-lambda-powertools/logger'
import { metricLine } from './metric-line.ts'
import type { Clock } from './model/clock.ts'
import type { Log } from './model/log.ts'
import { metrics } from './model/metric.ts'

/** One for the process: it knows which invocation it writes for (lambda-handler.ts). */
export const logger = new Logger({ serviceName: 'berth' })

/** One JSON line for each message; metrics, and the count of an alarm, are lines of their own on `out`. */
export const lambdaLog = ({ clock, out }: { clock: Clock; out: NodeJS.WritableStream }): Log => {
  const at = () => clock.now()
  return {
    info: (message, fields = {}) => logger.info(message, fields),
    warn: (message, fields = {}) => logger.warn(message, fields),
    error: (message, fields = {}) => logger.error(message, fields),
    alarm: (name, message, fields = {}) => {
      logger.error(`${name}: ${message}`, { ...fields, alarm: name })
      out.write(metricLine({ name, value: 1, unit: 'Count', at: at(), dimensions: { service: 'berth' } }))
    },
    metric: (name, value, of) => {
      const { unit, by } = metrics[name]
      out.write(metricLine({ name, value, unit, at: at(), dimensions: { service: 'berth', [by]: of } }))
    },
  }
}
