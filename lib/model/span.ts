import * as z from 'zod'

const unitMs = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
} as const

/** Times beyond the year 275760 are no dates, and sums of them no safe integers. */
const longestMs = 10 * 365 * unitMs.d

/** Milliseconds, or `off` for "never". */
export type Span = number | 'off'

/**
 * Reads a time span as dstack writes it: `90` or `"90"` (seconds), `"5m"`, `"8h"`, `"1d"`, `"1w"`, `"off"`, `"0"`.
 * Throws an Error whose message says what is allowed.
 */
export const parseSpan = (text: string | number): Span => {
  const written = String(text).trim().toLowerCase()
  if (written === 'off') return 'off'
  const match = /^(\d{1,9}) ?([smhdw]?)$/.exec(written)
  if (!match)
    throw new Error(`${JSON.stringify(text)} is not a time span; write "5m", "8h", "1d", "0" or "off"`)
  const unit = match[2] === 'm' || match[2] === 'h' || match[2] === 'd' || match[2] === 'w' ? match[2] : 's'
  const ms = Number(match[1]) * unitMs[unit]
  if (ms > longestMs)
    throw new Error(`${JSON.stringify(text)} is longer than ten years; write "off" for "never"`)
  return ms
}

/** The shortest way to write a span: 300000 is "5m". */
export const formatSpan = (span: Span): string => {
  if (span === 'off' || span === 0) return String(span)
  for (const unit of ['w', 'd', 'h', 'm'] as const) {
    if (span % unitMs[unit] === 0) return `${span / unitMs[unit]}${unit}`
  }
  return `${Math.ceil(span / 1000)}s`
}

const written = z
  .union(
    [
      z.string().meta({ pattern: String.raw`^\s*([Oo][Ff][Ff]|\d{1,9} ?[SsMmHhDdWw]?)\s*$` }),
      z.number().meta({ minimum: 0, description: 'Seconds.' }),
    ],
    'write a time span such as "5m", "8h" or "1d"',
  )
  .meta({ examples: ['5m', '8h', '1d'] })

/** A span in a request or in settings: `off` allowed. */
export const spanOrOff = written.transform((value, context): Span => {
  try {
    return parseSpan(value)
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) })
    return z.NEVER
  }
})

/** A span that must end: `off` is refused. */
export const span = spanOrOff.transform((value, context): number => {
  if (value !== 'off') return value
  context.addIssue({ code: 'custom', message: '"off" is not allowed here; write a time span such as "2h"' })
  return z.NEVER
})
