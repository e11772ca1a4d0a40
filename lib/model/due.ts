import type { Instance } from './instance.ts'

/** How much too early the sweep may look before it is worth two write units to move its time. */
const toleranceMs = 300_000

/** The two times that say when an instance's next step is due. The sweep's is never the later one. */
export const dueAt = (
  instance: Pick<Instance, 'sweepAt'>,
  when: number,
): Required<Pick<Instance, 'nextCheckAt' | 'sweepAt'>> => {
  const early = when - (instance.sweepAt ?? Number.POSITIVE_INFINITY)
  const isNear = early >= 0 && early <= toleranceMs
  return { nextCheckAt: when, sweepAt: isNear && instance.sweepAt !== undefined ? instance.sweepAt : when }
}

/** Half a second early is on time: queues count whole seconds. */
export const isDue = (instance: Pick<Instance, 'nextCheckAt'>, now: number): boolean =>
  instance.nextCheckAt !== undefined && now >= instance.nextCheckAt - 500
