import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import { checkAnswer } from '../support/answers-as-documented.ts'

export type Witness = {
  url: string
  /** How many requests had an answer. */
  requests(): number
  /** How many answers of each kind: `POST 202`. */
  answers(): Map<string, number>
  /** What was wrong, each kind once, with how often it was. */
  wrongs(): Map<string, number>
  stop(): Promise<void>
}

/**
 * Stands between the API and who asks it, and trusts neither: counts what is really asked, and holds every answer
 * against the document with another validator than the one that asks.
 */
export const startWitness = async (target: string): Promise<Witness> => {
  const answers = new Map<string, number>()
  const wrongs = new Map<string, number>()
  let requests = 0
  const judge = (asked: IncomingMessage, answer: IncomingMessage, body: string) => {
    const { method = '', url = '' } = asked
    const { statusCode: status = 0, headers } = answer
    requests += 1
    count(answers, `${method} ${status}`)
    const told = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    try {
      // Its answer has no body that could be looked at.
      if (method !== 'HEAD') checkAnswer(method, url, { status, headers: told, body })
      if (status >= 500) throw new Error(`${method} ${url} answered ${status}\n${body}`)
    } catch (error) {
      count(wrongs, String(error))
    }
  }

  // What is too long for the API is for the API to say.
  const server = createServer({ maxHeaderSize: 1_048_576 }, (asked, answering) => {
    const onward = request(new URL(target), {
      path: asked.url ?? '/',
      method: asked.method,
      headers: asked.headers,
      // A connection of its own: one that is kept may be closed just when it is used again.
      agent: false,
    })
    onward.on('response', async (answer) => {
      answering.writeHead(answer.statusCode ?? 502, answer.headers)
      let body = ''
      answer.setEncoding('utf8')
      for await (const chunk of answer) body += chunk
      judge(asked, answer, body)
      answering.end(body)
    })
    onward.on('error', (error) => {
      count(wrongs, `${asked.method} ${asked.url} had no answer: ${error.message}`)
      answering.destroy()
    })
    asked.pipe(onward)
  })
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the witness has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests: () => requests,
    answers: () => answers,
    wrongs: () => wrongs,
    stop: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
