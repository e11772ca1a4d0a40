import { BerthError } from '../model/errors.ts'

/** How many seconds' worth of requests may come at once. */
const burstSeconds = 5

/**
 * Counts each key's requests in this process (a token bucket), so that one that runs wild is refused before it asks
 * table or clouds anything. Lambda has several processes where requests overlap, each with a count of its own; how many
 * requests reach them in all is bounded by API Gateway's throttling.
 */
export const createRequestLimit = (perSecond: number, clock: { now: () => number }) => {
  const burst = perSecond * burstSeconds
  const buckets = new Map<string, { tokens: number; at: number }>()

  /** Throws BerthError too_many_requests, with the seconds after which one is let through again. */
  return (name: string): void => {
    const now = clock.now()
    const { tokens, at } = buckets.get(name) ?? { tokens: burst, at: now }
    // A clock that steps back earns nothing.
    const earned = Math.min(burst, tokens + (Math.max(0, now - at) / 1000) * perSecond)
    if (earned < 1) {
      const seconds = Math.ceil((1 - earned) / perSecond)
      buckets.set(name, { tokens: earned, at: now })
      throw new BerthError(
        'too_many_requests',
        `Nothing was done: this API key asks more than ${perSecond} times a second. Try again in ${seconds} s, with the same Idempotency-Key.`,
        [],
        { retryAfterSeconds: seconds },
      )
    }
    buckets.set(name, { tokens: earned - 1, at: now })
  }
}
