import type { Clock } from '../../lib/model/clock.ts'

export type ManualClock = Clock & { advance(ms: number): void }

/** A clock that goes only when it is told to. */
export const createManualClock = (start = Date.UTC(2030, 0, 1)): ManualClock => {
  let now = start
  return {
    now: () => now,
    advance(ms) {
      now += ms
    },
  }
}
