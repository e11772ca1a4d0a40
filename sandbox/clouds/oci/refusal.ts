/** What the simulated OCI answers instead of doing what was asked: a status, and `{code, message}` as its body. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.name = 'Refusal'
    this.status = status
    this.code = code
  }
}

/** Also what is sent for a date that is off, an unknown key, and a token that has run out. */
export const notAuthenticated = () =>
  new Refusal(
    401,
    'NotAuthenticated',
    'The required information to complete authentication was not provided or was incorrect.',
  )

/** OCI does not tell what is missing from what may not be seen. */
export const notFound = () =>
  new Refusal(404, 'NotAuthorizedOrNotFound', 'Authorization failed or requested resource not found.')

export const invalid = (message: string) => new Refusal(400, 'InvalidParameter', message)

export const limitExceeded = (limit: string) =>
  new Refusal(
    400,
    'LimitExceeded',
    `The following service limits were exceeded: ${limit}. Request a service limit increase from the service limits page in the console.`,
  )

export const incorrectState = (what: string) =>
  new Refusal(409, 'IncorrectState', `The requested state for the resource is not valid: ${what}`)

/** Sent with the status of a fault of the server, though nothing is broken. */
export const outOfHostCapacity = () => new Refusal(500, 'InternalError', 'Out of host capacity.')
