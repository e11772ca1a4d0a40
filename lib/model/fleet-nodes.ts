import * as z from 'zod'
import { partOf, textOr } from './file-part.ts'
import { parseCount } from './range.ts'
import { textBy, textOrNumber } from './text-by.ts'

/** A node more than meant costs up to 80 dollars an hour; nobody has asked for so many yet. */
export const mostNodes = 100

const count = z
  .int('must be a whole number')
  .min(0, 'must not be negative')
  .max(mostNodes, `must be at most ${mostNodes}`)

const allowed = 'write a number such as 2, a range such as "1..4", or {min, target, max}'

const spelled = (text: string) => {
  try {
    return { ...parseCount(text.replaceAll(' ', '')), target: undefined }
  } catch {
    throw new Error(allowed)
  }
}

/**
 * How many nodes, by dstack's rules: a number means that many, no more and no less; a range has its two ends; `target`
 * is `min` where it is not given, `min` is 0, and without `max` there is no end (but `mostNodes`).
 */
export const fleetNodes = textOr(
  textBy(spelled, textOrNumber(allowed)),
  partOf(z.strictObject({ min: count.optional(), target: count.optional(), max: count.optional() })),
)
  .transform(({ min = 0, target = min, max }) => ({ min, target, ...(max !== undefined && { max }) }))
  .pipe(z.object({ min: count, target: count, max: count.optional() }))
  .superRefine(({ min, target, max = mostNodes }, context) => {
    const refuse = (message: string) => context.addIssue({ code: 'custom', message })
    if (target < min) refuse(`target must not be less than min (${target} < ${min})`)
    if (max < target)
      refuse(`max must not be less than ${target === min ? 'min' : 'target'} (${max} < ${target})`)
  })
