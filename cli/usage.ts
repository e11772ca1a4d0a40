import type * as z from 'zod'
import { optionOf } from './api.ts'
import { Failure } from './failure.ts'

/** Checks what was given by the schema of what it becomes. Throws a Failure that names each option and what is allowed. */
export const checked = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> => {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [first = '', ...more] = result.error.issues.map(
    ({ path, message }) => `error: ${optionOf(path.join('.'))}: ${message}`,
  )
  throw new Failure('wrongUsage', first, more)
}

/** The parts that were given. */
export const given = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
