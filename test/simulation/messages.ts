import type { Step } from '../../lib/model/step.ts'
import type { Queues } from '../../lib/queues/queues.ts'
import type { Dice } from '../support/dice.ts'
import type { Faults } from './faults.ts'
import type { Timeline } from './timeline.ts'

/** As on AWS: six times the time-out of the functions and more, and then to the dead letters. */
const visibilityMs = 720_000
const mostReceives = 5
const longestLateMs = 900_000

export type Messages = {
  queues: Queues
  /** Delivers for sure: what the sweep hands on where every message is lost. */
  surely: Queues
}

/** SQS: messages are delivered once or more, late, in any order, or never; those that fail come again. */
export const createMessages = (parts: {
  timeline: Timeline
  dice: Dice
  faults: Faults
  /** Whether every message gets lost, so that the sweep is all that there is. */
  allLost: boolean
  /** True when the message was handled. */
  handle: (step: Step, instanceId: string) => Promise<boolean>
}): Messages => {
  const { timeline, dice, faults } = parts

  const deliver = async (step: Step, instanceId: string, receives: number): Promise<void> => {
    if ((await parts.handle(step, instanceId)) || receives >= mostReceives) return
    timeline.at(timeline.now() + visibilityMs, () => void deliver(step, instanceId, receives + 1))
  }
  const deliverAfter = (step: Step, instanceId: string, ms: number) =>
    timeline.at(timeline.now() + ms, () => void deliver(step, instanceId, 1))

  const bury = async () => {}
  const surely: Queues = {
    bury,
    send: async (step, instanceId, delayMs) => deliverAfter(step, instanceId, delayMs + dice.int(10, 2000)),
  }
  return {
    surely,
    queues: {
      bury,
      send: async (step, instanceId, delayMs) => {
        if (faults.strikes('message: can not be sent')) throw new Error('SQS does not answer (injected)')
        if (parts.allLost || faults.strikes('message: lost')) return
        const copies = faults.strikes('message: doubled') ? 2 : 1
        for (let copy = 0; copy < copies; copy++) {
          const lateMs = faults.strikes('message: late') ? dice.int(0, longestLateMs) : 0
          await surely.send(step, instanceId, delayMs + lateMs)
        }
      },
    },
  }
}
