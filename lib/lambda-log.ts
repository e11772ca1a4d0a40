import { Logger } from '@aws-lambda-powertools/logger'
import { alarmMetric } from './alarm-metric.ts'
import type { Clock } from './model/clock.ts'
import type { Log } from './model/log.ts'

/** One JSON line for each message; an alarm has a second one on `out`, which counts its metric. */
export const lambdaLog = ({ clock, out }: { clock: Clock; out: NodeJS.WritableStream }): Log => {
  const logger = new Logger({ serviceName: 'berth' })
  return {
    info: (message, fields = {}) => logger.info(message, fields),
    warn: (message, fields = {}) => logger.warn(message, fields),
    error: (message, fields = {}) => logger.error(message, fields),
    alarm: (name, message, fields = {}) => {
      logger.error(`${name}: ${message}`, { ...fields, alarm: name })
      out.write(alarmMetric(name, clock.now()))
    },
  }
}
