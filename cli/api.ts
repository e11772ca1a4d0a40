import * as z from 'zod'
import { Failure, type FailureKind } from './failure.ts'
import type { Surroundings } from './surroundings.ts'
import { type Access, findAccess } from './where.ts'

/** No answer, or one that came to nothing on the way: whether anything was done is not known. */
export class NoAnswer extends Failure {}

/** The key is good, and may not do this. */
export class Forbidden extends Failure {}

export type Api = {
  readonly access: Access
  /** The answer, checked, and the words that it came in (what `--json` prints). Throws a Failure. */
  call: <Schema extends z.ZodType>(
    schema: Schema,
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    more?: {
      body?: object
      headers?: Record<string, string>
      /** What a field of the body is called where the person wrote it; an option, if nothing else is said. */
      fieldName?: (path: string) => string
    },
  ) => Promise<Answer<z.output<Schema>>>
}

export type Answer<Value> = {
  value: Value
  raw: unknown
  /** The API's clock, by its `Date` header, in milliseconds since 1970. */
  date: number | undefined
}

const problem = z.object({
  title: z.string(),
  detail: z.string().optional(),
  code: z.string().optional(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).default([]),
})

/** API Gateway itself ends a request after 30 s. */
const patienceMs = 40_000

/** Calls the API that `berth help access` finds, and turns what it refuses into words. */
export const openApi = (at: Surroundings, options: unknown): Api => {
  const access = findAccess(at, options)
  return {
    access,
    call: async (schema, method, path, { body, headers = {}, fieldName = optionOf } = {}) => {
      const response = await send(at, access, method, path, {
        headers: {
          authorization: `Bearer ${access.apiKey}`,
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      const { status, text } = response
      const raw = parsed(text)
      if (status < 200 || status > 299) throw refusal(status, raw, access, fieldName)
      const result = schema.safeParse(raw)
      if (!result.success) {
        const [issue] = result.error.issues
        const what = `${access.url} answered ${method} ${path} in a form that this berth does not know`
        throw new Failure('failed', `${what} (${issue?.path.join('.') || 'body'}: ${issue?.message}).`, [
          'Is it a Berth, and of the same version as this command?',
        ])
      }
      return { value: result.data, raw, date: response.date }
    },
  }
}

const send = async (
  at: Surroundings,
  access: Access,
  method: string,
  path: string,
  init: { headers: Record<string, string>; body?: string },
) => {
  try {
    const response = await at.fetch(`${access.url}${path}`, {
      method,
      ...init,
      // A key is not carried on to where a redirect points.
      redirect: 'manual',
      signal: AbortSignal.timeout(patienceMs),
    })
    const date = Date.parse(response.headers.get('date') ?? '')
    return {
      status: response.status,
      text: await response.text(),
      date: Number.isNaN(date) ? undefined : date,
    }
  } catch (error) {
    throw new NoAnswer('failed', `${access.url} does not answer: ${reasonOf(error)}.`, [
      isLocal(access.url)
        ? 'Is Berth running? Start it with: npm start'
        : 'Check the address (berth help access) and the network, or see: berth doctor',
    ])
  }
}

/** What an answer other than 2xx means. */
const refusal = (
  status: number,
  raw: unknown,
  { url }: Access,
  fieldName: (path: string) => string,
): Failure => {
  const told = problem.safeParse(raw)
  if (!told.success) {
    const words = status >= 300 && status < 400 ? 'it points elsewhere' : 'and did not say why'
    const message = `${url} answered with HTTP ${status}, ${words}.`
    return status >= 500 || status === 429
      ? new NoAnswer('failed', message, ['Try again in a minute.'])
      : new Failure('failed', message, ['Is this the address of a Berth? See: berth help access'])
  }
  const { title, detail, errors } = told.data
  // Where there are fields, the detail repeats them.
  const message = errors.length > 0 ? `${title}. Nothing was done.` : `${title}. ${detail ?? ''}`.trim()
  const fields = errors.map(({ path, message }) => `  ${fieldName(path)}: ${message}`)
  if (status >= 500 || status === 429) return new NoAnswer('failed', message, fields)
  if (status === 403) return new Forbidden('failed', message, fields)
  return new Failure(kindOf(status), message, [...fields, ...adviceFor(status)])
}

const kindOf = (status: number): FailureKind => {
  if (status === 404) return 'nothingFound'
  return status === 400 || status === 413 || status === 422 ? 'wrongUsage' : 'failed'
}

const adviceFor = (status: number): string[] =>
  status === 401 ? ['The key that was used is wrong, expired or revoked. See: berth help access'] : []

/** Options that are not called as the field that they fill. */
const otherNames: Record<string, string> = {
  backends: 'backend',
  regions: 'region',
  instanceTypes: 'instance-type',
  sshKeys: 'ssh-key',
  'Idempotency-Key': 'idempotency-key',
}

/** The option that says what a field of a request says. */
export const optionOf = (path: string): string => {
  const [field = ''] = path.split('.')
  const name = otherNames[field] ?? field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return /^[a-z-]+$/.test(name) ? `--${name}` : path
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isLocal = (url: string) => /^https?:\/\/(localhost|127\.|\[::1\])/.test(url)

const caused = z.object({ cause: z.object({ code: z.string().optional(), message: z.string() }) })

const reasonOf = (error: unknown): string => {
  if (error instanceof Error && error.name === 'TimeoutError') return `nothing within ${patienceMs / 1000} s`
  const { cause } = caused.safeParse(error).data ?? {}
  if (cause?.code === 'ECONNREFUSED') return 'the connection was refused'
  if (cause?.code === 'ENOTFOUND') return 'there is no machine of that name'
  return cause?.message || (error instanceof Error ? error.message : String(error))
}
