import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { messageOf } from '../../../lib/model/errors.ts'
import {
  type CloudAnswer,
  type CloudRequest,
  type Gateway,
  parseJson,
  type Caller as Waiting,
} from '../gateway.ts'
import { oneByOne } from '../one-by-one.ts'
import type { Caller } from './access.ts'
import type { Handler, Reply } from './call.ts'
import type { Fault } from './faults.ts'
import { type Operation, type Route, route } from './operations.ts'
import { notAuthenticated, notFound, Refusal } from './refusal.ts'
import type { Switches } from './switches.ts'

/** Every call that came in, in order, whatever became of it. */
export type Requests = {
  operation: Operation
  region: string
  path: string
  body: unknown
  retryToken?: string
}[]

/** Routes, signatures, faults. One call at a time looks at the state or changes it. */
export const createFront = (options: {
  authenticate: (request: CloudRequest, region: string, refreshes: boolean) => Caller
  faults: { take(operation: Operation): Fault | undefined }
  switches: Switches
  requests: Requests
  /** Brings the machines up to date before a call looks at them. */
  settle: () => Promise<void>
  handlers: Record<Operation, Handler>
  /** Called after each call that may have changed something, before its answer goes out. */
  save: () => void
  /** `GET /_sandbox/ledger`, for people. */
  ledger: () => unknown
}): Gateway => {
  const { faults, switches, requests } = options
  const oneAtATime = oneByOne()

  const perform = ({ operation, region, names }: Route, request: CloudRequest) =>
    oneAtATime(async (): Promise<Reply> => {
      if (switches.credentials === 'all_401') throw notAuthenticated()
      const caller = options.authenticate(request, region, operation === 'refreshSessionToken')
      if (switches.credentials === 'all_404') throw notFound()
      await options.settle()
      const reply = await options.handlers[operation]({
        operation,
        caller,
        region,
        names,
        query: new URL(request.path, 'http://sandbox').searchParams,
        body: parseJson(request.body),
        retryToken: retryTokenOf(request),
      })
      if (request.method !== 'GET') options.save()
      return reply
    })

  const answer = async (request: CloudRequest, { stopped }: Waiting): Promise<CloudAnswer> => {
    const { method, path } = request
    const { pathname } = new URL(path, 'http://sandbox')
    if (method === 'GET' && pathname === '/_sandbox/ledger') return answerOf({ body: options.ledger() })
    const found = route(method, pathname)
    if (found === 404) throw new Refusal(404, 'NotFound', `There is no ${pathname}`)
    if (found === 405) throw new Refusal(405, 'MethodNotAllowed', `${method} is not known there`)
    const { operation, region } = found
    const retryToken = retryTokenOf(request)
    requests.push({
      operation,
      region,
      path,
      body: parseJson(request.body),
      ...(retryToken === undefined ? {} : { retryToken }),
    })

    const fault = faults.take(operation)
    if (fault?.kind === 'cut_before') return 'cut'
    if (fault?.kind === 'status') {
      const { status, code = 'InternalError', message = 'Injected fault' } = fault
      return answerOf({ status, body: { code, message }, ...(fault.headers && { headers: fault.headers }) })
    }
    if (fault?.kind === 'delay') await pause(fault.ms, undefined, { signal: stopped })
    const reply = await perform(found, request)
    if (fault?.kind === 'lost_answer') return 'cut'
    if (fault?.kind === 'done_but_500')
      throw new Refusal(500, 'InternalError', 'An internal server error occurred.')
    return answerOf(reply)
  }

  return async (request, caller) => {
    try {
      return await answer(request, caller)
    } catch (error) {
      if (caller.stopped.aborted) throw error
      return answerOf(refusalOf(error))
    }
  }
}

const refusalOf = (error: unknown): Reply =>
  error instanceof Refusal
    ? { status: error.status, body: { code: error.code, message: error.message } }
    : { status: 500, body: { code: 'InternalError', message: `A fault of the sandbox: ${messageOf(error)}` } }

const answerOf = ({ status = 200, body, headers }: Reply): CloudAnswer => ({
  status,
  headers: {
    'opc-request-id': randomBytes(16).toString('hex').toUpperCase(),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  },
  body: body === undefined ? undefined : JSON.stringify(body),
})

const retryTokenOf = ({ headers }: CloudRequest): string | undefined => {
  const token = headers['opc-retry-token']
  return typeof token === 'string' ? token : undefined
}
