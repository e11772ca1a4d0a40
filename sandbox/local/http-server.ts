import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type HttpResponse, problem } from '../../lib/http/problem.ts'
import { BerthError, messageOf } from '../../lib/model/errors.ts'
import { type ApiEvent, apiEvent } from './api-event.ts'

/** API Gateway's own limit for a body, in bytes. */
const largestBody = 10_485_760

export type ApiFunctions = {
  authorize: (event: { headers: Record<string, string> }) => Promise<{ context: object }>
  offers: (event: ApiEvent) => Promise<HttpResponse>
  instances: (event: ApiEvent) => Promise<HttpResponse>
  fleets: (event: ApiEvent) => Promise<HttpResponse>
}

/** API Gateway on one port: authorizes, picks the function by its path, hands it an event of the HTTP API's form 2.0. */
export const startHttpServer = async (options: {
  port: number
  functions: ApiFunctions
  onError: (message: string) => void
}): Promise<{ port: number; stop: () => Promise<void> }> => {
  const server = createServer((request, response) => {
    answer(options.functions, request)
      .catch((error: unknown) => {
        if (!(error instanceof BerthError)) options.onError(messageOf(error))
        return problem(error)
      })
      .then((result) => send(response, result))
      .catch((error: unknown) => options.onError(messageOf(error)))
  })
  server.on('clientError', refuse)
  await listen(server, options.port)
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return {
    port: address.port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const answer = async (functions: ApiFunctions, request: IncomingMessage): Promise<HttpResponse> => {
  const url = URL.parse(request.url ?? '/', 'http://localhost')
  if (!url) throw new BerthError('invalid_request', 'Nothing was done: the path of the request is not valid.')
  const handle = functions[functionFor(url.pathname)]
  const { authorization } = request.headers
  // Without the header, API Gateway asks no authorizer.
  const access =
    authorization === undefined ? undefined : await functions.authorize({ headers: { authorization } })
  return handle(apiEvent(request, url, await readBody(request), access?.context ?? {}))
}

const functionFor = (path: string): 'offers' | 'fleets' | 'instances' => {
  if (path === '/offers' || path === '/health' || path === '/openapi.json') return 'offers'
  return /^\/fleets(\/|$)/.test(path) ? 'fleets' : 'instances'
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > largestBody) {
      throw new BerthError('too_large', 'Nothing was done: the body is too large.', [
        { path: 'body', message: `at most ${largestBody} bytes are taken` },
      ])
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** What cannot be read as a request. API Gateway answers such without a function, too. */
const refuse = (error: NodeJS.ErrnoException, socket: Duplex) => {
  if (!socket.writable) return
  const isTooLong = error.code === 'HPE_HEADER_OVERFLOW'
  const status = isTooLong ? '431 Request Header Fields Too Large' : '400 Bad Request'
  const message = isTooLong ? 'Request Header Fields Too Large' : 'Bad Request'
  const body = JSON.stringify({ message })
  const head = ['Content-Type: application/json', `Content-Length: ${body.length}`, 'Connection: close']
  socket.end(`HTTP/1.1 ${status}\r\n${head.join('\r\n')}\r\n\r\n${body}`)
}

const send = (response: ServerResponse, result: HttpResponse) => {
  response.writeHead(result.statusCode, result.headers)
  response.end(result.body)
}

/** A run that was killed a moment ago may still hold the port, so a taken one is tried for some seconds. */
const listen = async (server: Server, port: number) => {
  for (let tries = 0; ; tries++) {
    const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
      server.once('error', resolve)
      server.listen(port, '127.0.0.1', () => {
        server.off('error', resolve)
        resolve(undefined)
      })
    })
    if (!error) return
    if (error.code !== 'EADDRINUSE' || tries >= 20) {
      throw new Error(`Port ${port} cannot be used (${error.code}). Choose another one with --port.`)
    }
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}
