import { once } from 'node:events'
import http from 'node:http'
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createShimClient } from '../../lib/shim/shim-client.ts'

let server: http.Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** A client of an agent that answers every call in one way. */
const agentThat = async (answer: http.RequestListener, timeoutMs = 5000) => {
  server = http.createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const open = async () => {
    const stream = connect(port, '127.0.0.1')
    stream.on('error', () => {})
    return stream
  }
  return createShimClient({ open, timeoutMs })
}
const saying = (body: string, status = 200) =>
  agentThat((_, response) => {
    response.writeHead(status).end(body)
  })

test('the fields that the agent leaves out are missing', async () => {
  expect(await (await saying('{}')).info()).toEqual({})
  expect(await (await saying('{"gpu_vendor": "amd", "more": 1}')).info()).toEqual({ gpu_vendor: 'amd' })
})

test('tasks may be null', async () => {
  expect(await (await saying('{"tasks": null}')).tasks()).toEqual([])
})

test('an agent that does not know of GPU health says nothing of it', async () => {
  expect(await (await saying('not found', 404)).instanceHealth()).toEqual({ dcgm: null })
})

test.each([
  ['another service', '{"service": "dstack-runner", "version": "1"}', 200, 'an answer of another form'],
  ['an error page', '<html>', 200, 'an answer of another form'],
  ['an error', '{}', 503, 'HTTP 503'],
  ['nothing there', '{}', 404, 'HTTP 404'],
])('%s is not the agent', async (_, body, status, words) => {
  await expect((await saying(body, status)).healthcheck()).rejects.toMatchObject({
    kind: 'agent',
    message: expect.stringContaining(words),
  })
})

test('an answer without an end is cut off', async () => {
  const client = await agentThat((_, response) => {
    response.on('error', () => {})
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(100_000)));
    }
    response.on('drain', more)
    more()
  })
  await expect(client.tasks()).rejects.toMatchObject({
    kind: 'agent',
    message: expect.stringContaining('more than'),
  })
})

test.each<[string, http.RequestListener]>([
  ['no answer', () => {}],
  ['half an answer', (_, response) => void response.write('{"tasks":')],
])('%s is waited for as long as was handed in', async (_, answer) => {
  const client = await agentThat(answer, 200)
  await expect(client.tasks()).rejects.toMatchObject({
    kind: 'agent',
    message: expect.stringContaining('200 ms'),
  })
})

test('a connection that is cut is no answer', async () => {
  const client = await agentThat((request) => request.socket.destroy())
  await expect(client.tasks()).rejects.toMatchObject({ kind: 'agent' })
})
