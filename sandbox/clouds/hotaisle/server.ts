import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { messageOf } from '../../../lib/model/errors.ts'
import { oneByOne } from '../one-by-one.ts'
import type { Endpoint, Fault } from './faults.ts'
import { type Call, type Reply, refuse } from './handlers.ts'
import { type Route, route } from './routes.ts'

/** Every call that came in, in order, whatever became of it. */
export type Requests = { endpoint: Endpoint; body: unknown }[]

/** A DELETE that waits for its machine is cut off after so long, in real milliseconds. */
const longestWaitMs = 300_000

type ServerOptions = {
  port: number
  team: string
  isAuthorized: (authorization: string) => boolean
  faults: { take(endpoint: Endpoint): Fault | undefined }
  requests: Requests
  /** Brings the machines up to date before a call looks at them. */
  settle: () => Promise<void>
  handlers: Record<Endpoint, (call: Call) => Reply | Promise<Reply>>
  /** `GET /_sandbox/ledger`, for people. */
  ledger: () => unknown
}

/** The HTTP side: routes, tokens, faults. One call at a time looks at the state or changes it. */
export const listen = async (options: ServerOptions): Promise<{ url: string; stop(): Promise<void> }> => {
  const stopped = new AbortController()
  const oneAtATime = oneByOne()

  const perform = (
    { endpoint, team, name = '' }: Route,
    request: IncomingMessage,
    query: URLSearchParams,
    body: unknown,
  ) =>
    oneAtATime(async (): Promise<Reply> => {
      if (!options.isAuthorized(request.headers.authorization ?? '')) return refuse(401)
      if (team !== undefined && team !== options.team) return refuse(404)
      await options.settle()
      return options.handlers[endpoint]({ name, query, body })
    })

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://sandbox')
    const body = parseJson(await readBody(request))
    if (url.pathname === '/_sandbox/ledger') return send(response, { status: 200, body: options.ledger() })
    const found = route(request.method ?? 'GET', url.pathname)
    if (found === 404 || found === 405) return send(response, refuse(found))
    options.requests.push({ endpoint: found.endpoint, body })

    const fault = options.faults.take(found.endpoint)
    if (fault?.kind === 'cut_before') return request.socket.destroy()
    if (fault?.kind === 'status') {
      return send(response, { status: fault.status, text: fault.body ?? 'Injected fault' }, fault.headers)
    }
    if (fault?.kind === 'delay') await pause(fault.ms, undefined, { signal: stopped.signal })
    const reply = await perform(found, request, url.searchParams, body)
    if (fault?.kind === 'lost_answer') return request.socket.destroy()
    if (!(await isDue(reply, response, stopped.signal))) return request.socket.destroy()
    return send(response, reply)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      if (stopped.signal.aborted) request.socket.destroy()
      else send(response, { status: 500, text: `Internal Server Error: ${messageOf(error)}` })
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : options.port
  return {
    url: `http://127.0.0.1:${port}/api`,
    stop: () =>
      new Promise<void>((resolve) => {
        stopped.abort()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Waits until the answer may go out. False where the caller left first, or it took too long. */
const isDue = async ({ until }: Reply, response: ServerResponse, signal: AbortSignal): Promise<boolean> => {
  const pollMs = 20
  for (let waitedMs = 0; until && !until(); waitedMs += pollMs) {
    if (response.destroyed || waitedMs > longestWaitMs) return false
    await pause(pollMs, undefined, { signal })
  }
  return true
}

const send = (response: ServerResponse, reply: Reply, headers: Record<string, string> = {}) => {
  const isText = reply.text !== undefined
  response.writeHead(reply.status, {
    'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json',
    ...headers,
  })
  response.end(isText ? reply.text : reply.body === undefined ? undefined : JSON.stringify(reply.body))
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
