import { describe, expect, test } from 'vitest'
import { accruedCost, costOf, formatDollars, fromDollars } from '../../lib/model/money.ts'
import { formatSpan, parseSpan } from '../../lib/model/span.ts'

describe('money is counted in whole cents', () => {
  test('eight hours at $27.12 are $216.96', () => {
    expect(formatDollars(costOf(2712, 480))).toBe('$216.96')
  })

  test('a part of a cent counts as a cent', () => {
    expect(costOf(199, 1)).toBe(4)
    expect(costOf(398, 60)).toBe(398)
  })

  test.each([
    [27.12, 2712],
    [0.1 + 0.2, 30],
    [1.005, 100],
    [80, 8000],
  ])('%d dollars are %d cents', (dollars, expected) => {
    expect(fromDollars(dollars)).toBe(expected)
  })

  test('a rental costs its minimum at once, then by the started minute', () => {
    const rental = { pricePerHourCents: 2712, minimumMinutes: 480, startedAt: 0 }
    expect(accruedCost({ ...rental, until: 1 })).toBe(21_696)
    expect(accruedCost({ ...rental, until: 480 * 60_000 })).toBe(21_696)
    expect(accruedCost({ ...rental, until: 480 * 60_000 + 1 })).toBe(costOf(2712, 481))
  })
})

describe('a span reads as dstack writes it', () => {
  test.each([
    ['5m', 300_000],
    ['8h', 28_800_000],
    ['90', 90_000],
    [90, 90_000],
    ['1d', 86_400_000],
    ['2w', 1_209_600_000],
    ['0', 0],
    ['off', 'off'],
  ])('%s', (text, expected) => {
    expect(parseSpan(text)).toBe(expected)
  })

  test.each(['-5m', '5 minutes', '', '1h30m', 'never', '1.5h'])('%j is refused', (text) => {
    expect(() => parseSpan(text)).toThrow('is not a time span')
  })

  test.each([
    [300_000, '5m'],
    [28_800_000, '8h'],
    [90_000, '90s'],
    [0, '0'],
    ['off', 'off'],
  ] as const)('%s is written as %s', (span, expected) => {
    expect(formatSpan(span)).toBe(expected)
  })
})
