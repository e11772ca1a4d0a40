import * as z from 'zod'
import type { Step } from '../model/step.ts'

/** The longest delay of an SQS message. What is due later is left to the sweep. */
export const longestDelayMs = 900_000

/** What every queue carries: a hint that an instance's next step may be due. */
export const hint = z.object({ instanceId: z.string().min(1) })

/** One typed send; a queue for each step. */
export interface Queues {
  /** Delivers the hint about `delayMs` from now, once or more, or never: nothing may depend on it. */
  send(step: Step, instanceId: string, delayMs: number): Promise<void>
}
