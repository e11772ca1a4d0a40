import * as z from 'zod'

/**
 * A part of a file of dstack's: known keys without a value count as missing, as in dstack, and keys that dstack knows and
 * Berth does not support are told from those that nobody knows, all of both at once.
 */
export const partOf = <Schema extends z.ZodObject>(schema: Schema, unsupported: readonly string[] = []) =>
  z.unknown().transform((value, context): z.output<Schema> => {
    const isGiven = ([key, each]: [string, unknown]) => each !== null || !(key in schema.shape)
    const kept = isObject(value) ? Object.entries(value).filter(isGiven) : undefined
    for (const [key] of kept?.filter(([each]) => unsupported.includes(each)) ?? []) {
      const message = `Berth does not support ${key}; leave it out`
      context.addIssue({ code: 'custom', path: [key], message })
    }
    const rest = kept && Object.fromEntries(kept.filter(([each]) => !unsupported.includes(each)))
    return handOn(schema, rest ?? value, context)
  })

/** What can be written as one text, or in parts under keys of their own; errors are those of the form that was used. */
export const textOr = <Text extends z.ZodType, Parts extends z.ZodType>(text: Text, parts: Parts) =>
  z
    .unknown()
    .transform((value, context): z.output<Text> | z.output<Parts> =>
      isObject(value) ? handOn(parts, value, context) : handOn(text, value, context),
    )

const handOn = <Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  context: z.RefinementCtx,
): z.output<Schema> => {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  for (const issue of result.error.issues) {
    const { path, message } = issue
    if (issue.code !== 'unrecognized_keys') context.addIssue({ code: 'custom', path, message })
    else
      for (const key of issue.keys)
        context.addIssue({ code: 'custom', path: [...path, key], message: 'this key is not known' })
  }
  return z.NEVER
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
