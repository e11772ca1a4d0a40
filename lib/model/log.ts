import type { Alarm } from './alarm.ts'
import type { Metric } from './metric.ts'

/** Where state changes and faults are told, one line each. Fields never hold a secret. */
export interface Log {
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
  /** An error that a person has to see to: the line begins with the alarm's name, and its metric counts one. */
  alarm(name: Alarm, message: string, fields?: Record<string, unknown>): void
  /** Adds a value to a metric, for one backend or reason (metric.ts). */
  metric(name: Metric, value: number, of: string): void
}
