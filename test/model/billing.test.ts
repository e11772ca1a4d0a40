import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Billing, chargedBy, chargedIn, monthsOf } from '../../lib/model/billing.ts'

const minute = 60_000
const hour = 60 * minute
const at = (text: string) => Date.parse(`${text}Z`)
const bareMetal = {
  microsPerHour: 27_120_000,
  stepMs: minute,
  leastMs: 8 * hour,
  startsAt: 'launch',
} as const

describe('a bill', () => {
  test('is the minimum at once, then by the started minute', () => {
    const billed = { ...bareMetal, from: 0 }
    expect([0, 8 * hour, 8 * hour + 1].map((time) => chargedBy(billed, time))).toEqual([
      21_696, 21_696, 21_742,
    ])
  })

  test('is nothing before the machine is charged, and for one that never was', () => {
    expect(chargedBy({ ...bareMetal, from: 5 }, 4)).toBe(0)
    expect(chargedBy(bareMetal, 9e12)).toBe(0)
  })

  test('of a minimum over the end of a month belongs to the month of the launch', () => {
    const billed = { ...bareMetal, from: at('2026-11-30T23:00'), until: at('2026-12-01T08:00') }
    const shares = monthsOf(billed, at('2026-12-09T00:00')).map((month) =>
      chargedIn(billed, month, at('2026-12-09T00:00')),
    )
    expect(shares).toEqual([
      { cents: 21_696, ms: hour },
      { cents: 2712, ms: 8 * hour },
    ])
  })

  test('that begins with the first moment of a month is of that month alone', () => {
    const from = Date.parse('2030-02-01T00:00:00Z')
    const bill = { ...bareMetal, from }
    expect(chargedIn(bill, '2030-01', from + 3_600_000)).toEqual({ cents: 0, ms: 0 })
    expect(chargedIn(bill, '2030-02', from + 3_600_000).cents).toBe(21_696)
  })

  test('is the sum of its months, whatever it is of', () => {
    const some = fc.record({
      microsPerHour: fc.integer({ min: 1, max: 120_000_000 }),
      stepMs: fc.constantFrom(1000, minute),
      leastMs: fc.constantFrom(0, minute, hour, 8 * hour),
      startsAt: fc.constant('launch' as const),
      from: fc.integer({ min: at('2026-01-01T00:00'), max: at('2026-12-31T00:00') }),
      lasted: fc.integer({ min: 0, max: 200 * 24 * hour }),
    })
    fc.assert(
      fc.property(some, ({ lasted, ...terms }) => {
        const billed: Billing = { ...terms, until: terms.from + lasted }
        const now = billed.from === undefined ? 0 : terms.from + lasted + 3 * hour
        const shares = monthsOf(billed, now).map((month) => chargedIn(billed, month, now))
        expect(shares.reduce((sum, { cents }) => sum + cents, 0)).toBe(chargedBy(billed, now))
        expect(shares.reduce((sum, { ms }) => sum + ms, 0)).toBe(lasted)
      }),
    )
  })
})
