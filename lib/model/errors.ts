/** One thing wrong with what was sent: where, and what is allowed there. */
export type FieldError = { path: string; message: string }

/**
 * An error that is meant for the one who asked. `code` is stable and in snake case, `message` says what happened
 * and what to do. Anything else that is thrown is a fault of ours and shows nothing of itself.
 */
export class BerthError extends Error {
  readonly code: ProblemCode
  readonly errors: FieldError[]
  /** When the same may be asked again, where that is known. */
  readonly retryAfterSeconds: number | undefined
  constructor(
    code: ProblemCode,
    message: string,
    errors: FieldError[] = [],
    { retryAfterSeconds }: { retryAfterSeconds?: number } = {},
  ) {
    super(message)
    this.name = 'BerthError'
    this.code = code
    this.errors = errors
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Each code with its HTTP status and its title (RFC 9457). */
export const problems = {
  invalid_request: { status: 400, title: 'The request is not valid' },
  unauthorized: { status: 401, title: 'A valid API key is needed' },
  forbidden: { status: 403, title: 'The API key may not do this' },
  limit_exceeded: { status: 403, title: 'A limit on spending does not allow it' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'The method is not known here' },
  not_claimable: { status: 409, title: 'The instance cannot be claimed' },
  not_claimed: { status: 409, title: 'The instance is not claimed by you' },
  fleet_deleted: { status: 409, title: 'The fleet is deleted at the same moment' },
  idempotency_conflict: { status: 422, title: 'The Idempotency-Key was used for another request' },
  too_large: { status: 413, title: 'The request is too large' },
  too_many_requests: { status: 429, title: 'The API key asks too often' },
  invalid_settings: { status: 500, title: 'The settings are not valid' },
  internal: { status: 500, title: 'Something went wrong on our side' },
} as const

export type ProblemCode = keyof typeof problems
export const problemCodes = Object.keys(problems).filter((code): code is ProblemCode => code in problems)

/** The words of anything that was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
