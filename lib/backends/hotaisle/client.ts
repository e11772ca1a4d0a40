import * as z from 'zod'
import type { Clock } from '../../model/clock.ts'
import { messageOf } from '../../model/errors.ts'
import { createPauses, readRetryAfter } from '../pauses.ts'

/** What came back from one request. `unknown`: whether it was done can't be told from here. */
export type Answer<Body> =
  | { kind: 'ok'; status: number; body: Body }
  | { kind: 'refused'; status: number; text: string; retryAfterMs?: number | undefined }
  | { kind: 'unknown'; why: Why; message: string; retryAfterMs?: number | undefined }

/** `not_sent`: proved that the request never left, so that nothing can have come of it. */
type Why = 'not_sent' | 'time_out' | 'cut' | 'server_error' | 'unreadable'

export type Client = <Body>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body: z.ZodType<Body>,
  options: { timeoutMs: number; json?: z.core.util.JSONType },
) => Promise<Answer<Body>>

/**
 * HTTP to one account of Hot Aisle. Never throws, and never tries again by itself: a POST may cost money. As long as
 * Hot Aisle asked for no more requests, none is sent.
 */
export const createClient = (options: {
  apiUrl: string
  apiKey: string
  clock: Clock
  fetch: typeof fetch
}): Client => {
  const pauses = createPauses(options.clock)
  return async (method, path, schema, { timeoutMs, json }) => {
    const what = `${method} ${path}`
    const pause = pauses.at(options.apiUrl)
    if (pause) {
      const message = `${what}: ${pause.words}`
      return { kind: 'unknown', why: 'not_sent', message, retryAfterMs: pause.leftMs }
    }
    const plain = (text: string) => oneLine(text.replaceAll(options.apiKey, '<api key>'))
    try {
      const response = await options.fetch(`${options.apiUrl.replace(/\/+$/, '')}${path}`, {
        method,
        headers: {
          authorization: `Token ${options.apiKey}`,
          accept: 'application/json',
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: json === undefined ? null : JSON.stringify(json),
        // A redirect that is followed would send a paid request twice.
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      })
      const text = await response.text()
      const retryAfterMs = readRetryAfter(response.headers.get('retry-after'), options.clock)
      const { status } = response
      pauses.heed(options.apiUrl, status, retryAfterMs)
      if (status >= 500) {
        const message = `${what} answered ${status}: ${plain(text)}`
        return { kind: 'unknown', why: 'server_error', message, retryAfterMs }
      }
      if (!response.ok) return { kind: 'refused', status, text: plain(text), retryAfterMs }
      const read = schema.safeParse(parseJson(text))
      if (read.success) return { kind: 'ok', status, body: read.data }
      const message = `${what} answered ${status} with a body that can't be read`
      return { kind: 'unknown', why: 'unreadable', message }
    } catch (error) {
      const why = reasonOf(error)
      const words = why === 'time_out' ? `no answer within ${timeoutMs / 1000} s` : plain(wordsOf(error))
      return { kind: 'unknown', why, message: `${what} failed: ${words}` }
    }
  }
}

/** The words of an answer that is not ok, for messages. */
export const wordsOfAnswer = (answer: Exclude<Answer<unknown>, { kind: 'ok' }>): string =>
  answer.kind === 'refused' ? `HTTP ${answer.status}: ${answer.text || 'no text'}` : answer.message

const oneLine = (text: string) => text.trim().replace(/\s+/g, ' ').slice(0, 300)

/** Undefined, which no schema but that of an empty answer takes, where the text is not JSON. */
const parseJson = (text: string): unknown => {
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const coded = z.object({ code: z.string() })
const failedFetch = z.object({ cause: z.union([z.object({ errors: z.array(coded).min(1) }), coded]) })

/** The connection was refused, or the name has no address: nothing was sent. */
const neverSent = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'])

const reasonOf = (error: unknown): Why => {
  if (error instanceof Error && error.name === 'TimeoutError') return 'time_out'
  const failed = failedFetch.safeParse(error)
  if (!failed.success) return 'cut'
  // A name with several addresses fails once for each of them.
  const causes = 'errors' in failed.data.cause ? failed.data.cause.errors : [failed.data.cause]
  return causes.every(({ code }) => neverSent.has(code)) ? 'not_sent' : 'cut'
}

const wordsOf = (error: unknown): string => {
  const cause = error instanceof Error ? messageOf(error.cause ?? '') : ''
  return [messageOf(error), cause].filter(Boolean).join(': ')
}
