import { messageOf } from '../../model/errors.ts'

/** What came of one call to OCI. */
export type Answer<Value> = { kind: 'ok'; value: Value } | Failure

export type Failure = {
  kind: 'failed'
  /** None where no answer came, or none that can be read: whether it was done can't be told from here. */
  status: number | undefined
  /** OCI's own word: `LimitExceeded`. */
  code: string
  message: string
  /** False where it is proved that the request never left. */
  sent: boolean
  retryAfterMs?: number | undefined
}

/** A failure on its way through Oracle's SDK, which knows errors alone. */
export class OciFailure extends Error {
  readonly failure: Failure
  constructor(failure: Failure) {
    super(failure.message)
    this.name = 'OciFailure'
    this.failure = failure
  }
}

export const ok = <Value>(value: Value): Answer<Value> => ({ kind: 'ok', value })

export const failed = (status: number | undefined, code: string, message: string): Failure => ({
  kind: 'failed',
  status,
  code,
  message,
  sent: true,
})

/** What a call brought or threw, as a value. What can't be read counts as no answer. */
export const answerOf = async <Value>(what: string, call: () => Promise<Value>): Promise<Answer<Value>> => {
  try {
    return ok(await call())
  } catch (error) {
    if (error instanceof OciFailure) return { ...error.failure, message: `${what}: ${error.failure.message}` }
    return failed(
      undefined,
      'Unreadable',
      `${what}: the answer can't be read (${messageOf(error).slice(0, 200)})`,
    )
  }
}

/** Whether a failure says nothing about what was asked: no answer, a fault of the server, or too many requests. */
export const isSilence = ({ status }: Failure): boolean =>
  status === undefined || status >= 500 || status === 429

/** Runs one step after another; the first failure is the answer. */
export const after = async <Value, Next>(
  answer: Answer<Value>,
  next: (value: Value) => Promise<Answer<Next>> | Answer<Next>,
): Promise<Answer<Next>> => (answer.kind === 'ok' ? next(answer.value) : answer)
