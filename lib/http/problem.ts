import { BerthError, problems } from '../model/errors.ts'
import type { ProblemAnswer } from './answers.ts'

export type HttpResponse = { statusCode: number; headers: Record<string, string>; body: string }

/** The type of the answer must be given, as in `json<InstanceAnswer>(200, …)`: none of its fields is forgotten then. */
export const json = <Body = never>(
  statusCode: number,
  body: NoInfer<Body>,
  headers: Record<string, string> = {},
): HttpResponse => ({
  statusCode,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

/**
 * An error as RFC 9457 problem+json. Only a BerthError is meant for others: anything else is a fault of ours, which
 * the log tells and the answer does not.
 */
export const problem = (error: unknown): HttpResponse => {
  const told = error instanceof BerthError ? error : new BerthError('internal', unexpected)
  const { status, title } = problems[told.code]
  const body: ProblemAnswer = {
    type: `urn:berth:problem:${told.code.replaceAll('_', '-')}`,
    title,
    status,
    detail: told.message,
    code: told.code,
    ...(told.errors.length > 0 && { errors: told.errors }),
  }
  return {
    statusCode: status,
    headers: {
      'content-type': 'application/problem+json',
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      ...(told.retryAfterSeconds !== undefined && { 'retry-after': String(told.retryAfterSeconds) }),
    },
    body: JSON.stringify(body),
  }
}

const unexpected =
  'An unexpected error. What was asked for may or may not have been done: look with GET /instances, or send the same request with the same Idempotency-Key again, which never rents twice.'
