import type { Clock } from '../../model/clock.ts'
import type { Answer } from './answer.ts'

export type Remembered<Value> = {
  (key: string): Promise<Answer<Value>>
  forget(key: string): void
}

/**
 * Asks once for each key and keeps the answer for `forMs` of the clock. Failures are not kept, and those who ask at the
 * same time share one question.
 */
export const remember = <Value>(
  clock: Clock,
  forMs: number,
  ask: (key: string) => Promise<Answer<Value>>,
): Remembered<Value> => {
  const known = new Map<string, { at: number; answer: Promise<Answer<Value>> }>()
  const get = async (key: string): Promise<Answer<Value>> => {
    const kept = known.get(key)
    if (kept && clock.now() - kept.at < forMs) return kept.answer
    const entry = { at: clock.now(), answer: ask(key) }
    known.set(key, entry)
    const answer = await entry.answer
    if (answer.kind !== 'ok' && known.get(key) === entry) known.delete(key)
    return answer
  }
  return Object.assign(get, { forget: (key: string) => void known.delete(key) })
}
