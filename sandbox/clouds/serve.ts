import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { CloudAnswer, Gateway } from './gateway.ts'

/** A simulated cloud on a port of 127.0.0.1. Rejects where the port is taken. */
export const serve = async (
  gateway: Gateway,
  port: number,
): Promise<{ origin: string; stop(): Promise<void> }> => {
  const stopped = new AbortController()
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<CloudAnswer> => {
    const { method = 'GET', url: path = '/', headers } = incoming
    const request = { method, path, headers, body: await readBody(incoming) }
    return gateway(request, { hasLeft: () => response.destroyed, stopped: stopped.signal })
  }
  const server = createServer((incoming, response) => {
    // Only a stop makes a gateway throw.
    answer(incoming, response)
      .catch((): CloudAnswer => 'cut')
      .then((answered) => {
        if (answered === 'cut') return incoming.socket.destroy()
        response.writeHead(answered.status, answered.headers)
        return response.end(answered.body)
      })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  return {
    origin: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        stopped.abort()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}
