import { describe, expect, test } from 'vitest'
import { defects } from './defects.ts'
import { faultPoints } from './faults.ts'
import { runSeeds } from './run-seeds.ts'
import { type Result, simulate } from './simulation.ts'

const threads = 2

test('in 200 runs with faults of every kind every promise is kept', async () => {
  const results: Result[] = []
  await runSeeds({ first: 1, last: 200, threads, onResult: (result) => results.push(result) })
  expect(results.filter(({ violations }) => violations.length > 0)).toEqual([])
  expect(results).toHaveLength(200)
  expect(faultPoints.filter((point) => !results.some(({ hits }) => hits.has(point)))).toEqual([])
}, 400_000)

test('the same seed does the same, in whatever process and after whatever other seeds', async () => {
  const there: Result[] = []
  await runSeeds({ first: 6, last: 10, threads: 1, onResult: (result) => there.push(result) })
  const here: Result[] = []
  for (const seed of [10, 9, 8, 7, 6]) here.unshift(await simulate(seed))
  expect(here).toEqual(there)
  expect(new Set(here.map(({ digest }) => digest)).size).toBe(5)
}, 60_000)

/** A seed that shows each, as the code is now; a later one does when the code has moved on. */
const shows: Record<string, number> = {
  'intent-after-the-call': 2,
  'terminate-gives-up': 4,
  'claim-without-condition': 4,
  'empty-list-believed-at-once': 4,
  'always-by-force': 8,
  'terminated-when-asked': 2,
  '404-believed': 9,
  'limits-without-version': 93,
  'launch-not-counted': 66,
}

describe('a defect that breaks a promise on purpose is found', () => {
  test.each(Object.keys(defects))(
    '%s',
    async (defect) => {
      const broken: Result[] = []
      const first = shows[defect] ?? 1
      await runSeeds({
        first,
        last: first + 399,
        threads: 1,
        defect,
        onResult: (result) => {
          if (result.violations.length > 0) broken.push(result)
        },
        isEnough: () => broken.length > 0,
      })
      expect(broken).not.toEqual([])
    },
    200_000,
  )
})
