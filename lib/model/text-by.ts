import * as z from 'zod'

/** Parses a text with a parser that throws what is allowed; `otherwise` is said of what is no text at all. */
export const textBy = <Value>(parse: (text: string) => Value, otherwise?: string) =>
  z.union([z.string().max(200), z.number()], otherwise).transform((text, context): Value => {
    try {
      return parse(String(text))
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) })
      return z.NEVER
    }
  })
