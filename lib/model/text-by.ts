import * as z from 'zod'

/** A text of at most so many characters, or a number that stands for one. `otherwise` is said of anything else. */
export const textOrNumber = (otherwise = 'must be a text or a number', longest = 200) =>
  z.union([z.string().max(longest), z.number()], otherwise)

/** Parses a text with a parser that throws what is allowed. */
export const textBy = <Value>(
  parse: (text: string) => Value,
  taken: z.ZodType<string | number, string | number> = textOrNumber(),
) =>
  taken.transform((text, context): Value => {
    try {
      return parse(String(text))
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) })
      return z.NEVER
    }
  })
