import * as z from 'zod'
import type { Step } from '../model/step.ts'

/** The longest delay of an SQS message. What is due later is left to the sweep. */
export const longestDelayMs = 900_000

/** What every queue carries: a hint that an instance's next step may be due. */
export const hint = z.object({ instanceId: z.string().min(1) })

/** How often a message is delivered before it is a dead letter: `maxReceiveCount` of every queue. */
export const mostReceives = 5

/** A hint whose step failed at every delivery, for a person to read. It is still a hint, should it be sent on. */
type DeadLetter = z.infer<typeof hint> & {
  step: Step
  /** What the step threw at the last delivery. */
  reason: string
  receives: number
  /** ISO 8601 */
  at: string
}

/** One typed send; a queue for each step, and one for the dead letters of all. */
export interface Queues {
  /** Delivers the hint about `delayMs` from now, once or more, or never: nothing may depend on it. */
  send(step: Step, instanceId: string, delayMs: number): Promise<void>
  /** Puts a hint among the dead letters. Nothing waits for it there: the sweep goes on to find its instance. */
  bury(letter: DeadLetter): Promise<void>
}
