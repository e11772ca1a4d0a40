import * as z from 'zod'

/** From `min` to `max`, both included; a missing bound is open. */
export const range = z.object({ min: z.number().optional(), max: z.number().optional() })
export type Range = z.infer<typeof range>

export const contains = (wanted: Range, value: number): boolean =>
  value >= (wanted.min ?? Number.NEGATIVE_INFINITY) && value <= (wanted.max ?? Number.POSITIVE_INFINITY)

/** `8`, `1..4`, `8..`, `..16`. Throws with what is allowed. */
export const parseCount = (text: string): Range =>
  parseRange(text, parseWhole, '"8", "1..4", "8.." or "..16"')

/** `80GB`, `80GB..`, `64GB..128GB`, `1.5TB`, in GB of 2^30 bytes as dstack counts them; a bare number is GB. */
export const parseMemory = (text: string): Range =>
  parseRange(text, parseGigabytes, '"80GB", "80GB..", "64GB..128GB" or "1TB.."')

/** The way a person would write the range: `1..4`, `80GB..`. */
export const formatRange = (wanted: Range, unit = ''): string => {
  if (wanted.min === wanted.max) return `${wanted.min}${unit}`
  const side = (bound: number | undefined) => (bound === undefined ? '' : `${bound}${unit}`)
  return `${side(wanted.min)}..${side(wanted.max)}`
}

const parseRange = (
  text: string,
  parseBound: (bound: string) => number | undefined,
  allowed: string,
): Range => {
  const refuse = (): never => {
    throw new Error(`${JSON.stringify(text)} is not a valid amount; write ${allowed}`)
  }
  const parts = text.split('..')
  if (parts.length > 2 || parts.every((part) => part.trim() === '')) return refuse()
  const bounds = parts.map((part) => (part.trim() === '' ? undefined : (parseBound(part.trim()) ?? refuse())))
  const [min, max] = parts.length === 1 ? [bounds[0], bounds[0]] : bounds
  if (min !== undefined && max !== undefined && min > max) {
    throw new Error(`${JSON.stringify(text)} runs backwards: ${min} is more than ${max}`)
  }
  return { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) }
}

const parseWhole = (text: string): number | undefined => (/^\d{1,7}$/.test(text) ? Number(text) : undefined)

const parseGigabytes = (text: string): number | undefined => {
  const match = /^(\d{1,9}(?:\.\d{1,3})?) ?(MB|GB|TB)?$/i.exec(text)
  if (!match) return undefined
  const factor = { MB: 1 / 1024, GB: 1, TB: 1024 }[(match[2] ?? 'GB').toUpperCase()]
  return factor === undefined ? undefined : Number(match[1]) * factor
}
