import type * as z from 'zod'
import { BerthError, type FieldError } from '../model/errors.ts'

/** Bodies over this are refused unread; a request has no use for more. */
const largestBody = 65_536

/** Parses what came from outside; throws BerthError invalid_request that names each field and what is allowed. */
export const parseWith = <Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  where: string,
): z.output<Schema> => {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const errors = result.error.issues.flatMap((issue) => fieldErrors(issue, where))
  const named = errors.map(({ path, message }) => `${path}: ${message}`).join('; ')
  throw new BerthError('invalid_request', `Nothing was done. ${named}`, errors)
}

/** The JSON body of a request, checked. An empty body counts as `{}`. */
export const parseBody = <Schema extends z.ZodType>(
  schema: Schema,
  event: { body?: string | undefined; isBase64Encoded?: boolean | undefined },
): z.output<Schema> => {
  const body = event.body ?? ''
  if (body.length > largestBody) {
    const message = `the body has ${body.length} characters; at most ${largestBody} are allowed`
    throw new BerthError('too_large', `Nothing was done: ${message}.`, [{ path: 'body', message }])
  }
  const text = event.isBase64Encoded ? Buffer.from(body, 'base64').toString('utf8') : body
  return parseWith(schema, jsonOf(text), 'body')
}

const jsonOf = (text: string): unknown => {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch (error) {
    const message = `not valid JSON (${error instanceof Error ? error.message : 'unreadable'})`
    throw new BerthError('invalid_request', `Nothing was done: the body is ${message}.`, [
      { path: 'body', message },
    ])
  }
}

/** An unknown key is one error a key, with the key's own path: that is what its author has to find. */
const fieldErrors = (issue: z.core.$ZodIssue, where: string): FieldError[] => {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: pathOf([...issue.path, key], where),
      message: 'this field is not known',
    }))
  }
  return [{ path: pathOf(issue.path, where), message: issue.message }]
}

const pathOf = (path: PropertyKey[], where: string): string =>
  path.length === 0 ? where : path.map(String).join('.')
