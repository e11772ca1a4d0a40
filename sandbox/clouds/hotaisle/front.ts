import { setTimeout as pause } from 'node:timers/promises'
import { messageOf } from '../../../lib/model/errors.ts'
import { type Caller, type CloudAnswer, type CloudRequest, type Gateway, parseJson } from '../gateway.ts'
import { oneByOne } from '../one-by-one.ts'
import type { Endpoint, Fault } from './faults.ts'
import { type Call, type Reply, refuse } from './handlers.ts'
import { type Route, route } from './routes.ts'

/** Every call that came in, in order, whatever became of it. */
export type Requests = { endpoint: Endpoint; body: unknown }[]

/** A DELETE that waits for its machine is cut off after so long, in real milliseconds. */
const longestWaitMs = 300_000

/** Routes, tokens, faults. One call at a time looks at the state or changes it. */
export const createFront = (options: {
  team: string
  isAuthorized: (authorization: string) => boolean
  faults: { take(endpoint: Endpoint): Fault | undefined }
  requests: Requests
  /** Brings the machines up to date before a call looks at them. */
  settle: () => Promise<void>
  handlers: Record<Endpoint, (call: Call) => Reply | Promise<Reply>>
  /** `GET /_sandbox/ledger`, for people. */
  ledger: () => unknown
}): Gateway => {
  const oneAtATime = oneByOne()

  const perform = (
    { endpoint, team, name = '' }: Route,
    { headers }: CloudRequest,
    query: URLSearchParams,
    body: unknown,
  ) =>
    oneAtATime(async (): Promise<Reply> => {
      if (!options.isAuthorized(String(headers.authorization ?? ''))) return refuse(401)
      if (team !== undefined && team !== options.team) return refuse(404)
      await options.settle()
      return options.handlers[endpoint]({ name, query, body })
    })

  const answer = async (request: CloudRequest, caller: Caller): Promise<CloudAnswer> => {
    const url = new URL(request.path, 'http://sandbox')
    const body = parseJson(request.body)
    if (url.pathname === '/_sandbox/ledger') return answerOf({ status: 200, body: options.ledger() })
    const found = route(request.method, url.pathname)
    if (found === 404 || found === 405) return answerOf(refuse(found))
    options.requests.push({ endpoint: found.endpoint, body })

    const fault = options.faults.take(found.endpoint)
    if (fault?.kind === 'cut_before') return 'cut'
    if (fault?.kind === 'status') {
      return answerOf({ status: fault.status, text: fault.body ?? 'Injected fault' }, fault.headers)
    }
    if (fault?.kind === 'delay') await pause(fault.ms, undefined, { signal: caller.stopped })
    const reply = await perform(found, request, url.searchParams, body)
    if (fault?.kind === 'lost_answer' || !(await isDue(reply, caller))) return 'cut'
    return answerOf(reply)
  }

  return async (request, caller) => {
    try {
      return await answer(request, caller)
    } catch (error) {
      if (caller.stopped.aborted) throw error
      return answerOf({ status: 500, text: `Internal Server Error: ${messageOf(error)}` })
    }
  }
}

/** Waits until the answer may go out. False where the caller left first, or it took too long. */
const isDue = async ({ until }: Reply, { hasLeft, stopped }: Caller): Promise<boolean> => {
  const pollMs = 20
  for (let waitedMs = 0; until && !until(); waitedMs += pollMs) {
    if (hasLeft() || waitedMs > longestWaitMs) return false
    await pause(pollMs, undefined, { signal: stopped })
  }
  return true
}

const answerOf = ({ status, body, text }: Reply, headers: Record<string, string> = {}): CloudAnswer => ({
  status,
  headers: {
    'content-type': text === undefined ? 'application/json' : 'text/plain; charset=utf-8',
    ...headers,
  },
  body: text ?? (body === undefined ? undefined : JSON.stringify(body)),
})
