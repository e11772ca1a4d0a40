/** Simulated time: what is to happen next happens next, and nothing takes any real time. */
export type Timeline = {
  /** Milliseconds since 1970. */
  now(): number
  at(when: number, action: () => void): void
  sleep(ms: number): Promise<void>
  /** Lets everything happen that is due until then, and whatever comes of it. `after` is called after each. */
  run(until: number, after: () => void): Promise<void>
}

type Entry = { when: number; order: number; action: () => void }

export const createTimeline = (start: number): Timeline => {
  /** By time, then by when it was entered; the next one stands last. */
  const entries: Entry[] = []
  let now = start
  let entered = 0

  const at = (when: number, action: () => void) => {
    const entry = { when: Math.max(now, Math.round(when)), order: entered++, action }
    let [low, high] = [0, entries.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const other = entries[middle]
      if (other && isLater(other, entry)) low = middle + 1
      else high = middle
    }
    entries.splice(low, 0, entry)
  }

  return {
    now: () => now,
    at,
    sleep: (ms) => new Promise((resolve) => at(now + ms, resolve)),
    run: async (until, after) => {
      for (;;) {
        const next = entries.at(-1)
        if (!next || next.when > until) break
        entries.pop()
        now = next.when
        next.action()
        await everythingSettled()
        after()
      }
      now = Math.max(now, until)
    },
  }
}

const isLater = (a: Entry, b: Entry) => a.when > b.when || (a.when === b.when && a.order > b.order)

/** What was set off goes on until each of its parts waits for simulated time or is done. */
const everythingSettled = () => new Promise<void>((resolve) => setImmediate(resolve))
