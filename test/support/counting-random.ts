import type { Random } from '../../lib/model/random.ts'

/** Digits that are never the same twice, and always the same in a test. */
export const countingRandom = (start = 0): Random => {
  let count = start
  return {
    hex: (digits) => {
      count += 1
      return count.toString(16).padStart(digits, '0').slice(-digits)
    },
  }
}
