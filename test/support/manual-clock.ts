import type { Clock } from '../../lib/model/clock.ts'

export type ManualClock = Clock & { advance(ms: number): void; set(time: number): void }

/** A clock that stands still until it is told. */
export const manualClock = (start = Date.parse('2026-03-02T09:00:00Z')): ManualClock => {
  let now = start
  return {
    now: () => now,
    advance: (ms) => {
      now += ms
    },
    set: (time) => {
      now = Math.max(now, time)
    },
  }
}
