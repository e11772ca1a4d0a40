import type { Clock } from '../model/clock.ts'

/** A cloud may say hours, while a machine that is to be given back costs money. */
const longestMs = 300_000

/** Until when a cloud asked for no more requests, for each place that asks so for itself; kept while the process lives. */
export const createPauses = (clock: Clock) => {
  const ends = new Map<string, number>()
  return {
    /** The pause that a place is in, if it is in one: how much of it is left, and in words for messages. */
    at(place: string): { leftMs: number; words: string } | undefined {
      const end = ends.get(place) ?? 0
      const leftMs = end - clock.now()
      if (leftMs <= 0) return undefined
      const until = new Date(end).toISOString().slice(0, 19)
      return { leftMs, words: `it was not sent, since the cloud asks for no more requests until ${until}Z` }
    },
    /** Notes what an answer asks for: 429 and 503 may carry a time. */
    heed(place: string, status: number, retryAfterMs: number | undefined): void {
      if ((status !== 429 && status !== 503) || retryAfterMs === undefined) return
      const end = clock.now() + Math.min(retryAfterMs, longestMs)
      ends.set(place, Math.max(end, ends.get(place) ?? 0))
    },
  }
}

/** The header `Retry-After` in milliseconds: it holds whole seconds, or a date. */
export const readRetryAfter = (header: string | null, clock: Clock): number | undefined => {
  if (header === null) return undefined
  if (/^\d{1,6}$/.test(header)) return Number(header) * 1000
  const until = Date.parse(header)
  return Number.isNaN(until) ? undefined : Math.max(0, until - clock.now())
}
