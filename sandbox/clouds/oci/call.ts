import type * as z from 'zod'
import type { Caller } from './access.ts'
import type { Operation } from './operations.ts'
import { invalid } from './refusal.ts'
import type { Switches } from './switches.ts'

/** One call, by someone who is known, in a region that is theirs. */
export type Call = {
  operation: Operation
  caller: Caller
  region: string
  names: Record<string, string>
  query: URLSearchParams
  body: unknown
  /** `opc-retry-token`. */
  retryToken: string | undefined
}

export type Reply = {
  /** 200 if not said. */
  status?: number
  body?: unknown
  headers?: Record<string, string>
}

export type Handler = (call: Call) => Reply | Promise<Reply>

/** The body in the form that it must have; throws 400 and says what is wrong with it. */
export const bodyOf = <Schema extends z.ZodType>({ body }: Call, schema: Schema): z.output<Schema> => {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw invalid(`${issue?.path.join('.') || 'request body'}: ${issue?.message}`)
}

/** A query parameter without which the call can't be answered. */
export const needed = ({ query }: Call, name: string): string => {
  const value = query.get(name)
  if (value === null || value === '') throw invalid(`query param ${name} must be provided`)
  return value
}

/** Whether a row is what an optional query parameter asks for. */
export const fits = ({ query }: Call, name: string, value: string): boolean =>
  query.get(name) === null || query.get(name) === value

/** One page of a list; `opc-next-page` names the next. No page has more than 100 rows. */
export const pageOf = <Row>(call: Call, rows: Row[], switches: Switches): Reply => {
  const { operation, query } = call
  const token = query.get('page')
  if (token === null && switches.emptyFirstPage.has(operation)) {
    return { body: [], headers: { 'opc-next-page': writeToken(operation, 0) } }
  }
  const limit = Number(query.get('limit') ?? longestPage)
  if (!Number.isInteger(limit) || limit < 1) throw invalid('limit: must be a positive whole number')
  const start = token === null ? 0 : readToken(operation, token)
  const end = start + Math.min(limit, switches.pageSize[operation] ?? longestPage, longestPage)
  return {
    body: rows.slice(start, end),
    headers: end < rows.length ? { 'opc-next-page': writeToken(operation, end) } : {},
  }
}

const longestPage = 100

const writeToken = (operation: Operation, start: number) =>
  Buffer.from(`${operation} ${start}`).toString('base64url')

const readToken = (operation: Operation, token: string): number => {
  const [made, start] = Buffer.from(token, 'base64url').toString('latin1').split(' ')
  if (made !== operation || !/^\d+$/.test(start ?? ''))
    throw invalid('page: this token is not one of this list')
  return Number(start)
}
