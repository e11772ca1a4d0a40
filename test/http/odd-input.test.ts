import { request } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sweep } from '../../lib/lifecycle/sweep.ts'
import { checkAnswer } from '../support/answers-as-documented.ts'
import { startApi } from '../support/api.ts'
import type { World } from '../support/world.ts'
import { vm, worldSuite } from '../support/world-suite.ts'

const world = worldSuite()
let w: World
let api: Awaited<ReturnType<typeof startApi>>
beforeEach(async () => {
  w = await world()
  api = await startApi(w)
})
afterEach(() => api.stop())

test.each([
  [{ gpu: '__proto__' }],
  [{ gpu: 'constructor' }],
  [{ hold: '999999999w' }],
  [{ hold: '99999999d' }],
  [{ idleDuration: '999999999w' }],
  [{ maxDuration: '999999999w' }],
  [{ maxDuration: '99999999d' }],
  [{ idleDuration: '99999999d' }],
])('POST /instances %j is refused, or at least leaves sweeps and lists working', async (body) => {
  const posted = await api.call('POST', '/instances', { body })
  expect.soft(posted.status).toBeLessThan(500)
  const listed = await api.call('GET', '/instances')
  expect.soft(listed.status).toBe(200)
  await expect.soft(sweep(w.ctx)).resolves.toBeDefined()
  const other = await api.call('POST', '/instances', { body: vm })
  expect.soft(other.status).toBe(202)
})

test('a claim with a hold of a million years does not break the lists', async () => {
  const { id } = await w.rent({ gpu: 'MI300X:2', claim: false })
  await w.runUntil(id, ({ status }) => status === 'idle')
  const claimed = await api.call('POST', `/instances/${id}/claim`, { body: { hold: '999999999w' } })
  expect.soft(claimed.status).toBe(400)
  expect.soft((await api.call('GET', '/instances')).status).toBe(200)
  await expect.soft(sweep(w.ctx)).resolves.toBeDefined()
})

test.each([
  ['GET', '/offers?gpu=__proto__', 400],
  ['GET', '/offers?gpu=constructor', 200],
  ['GET', '/offers?__proto__=1', 400],
  ['GET', '/offers?constructor=1', 400],
  ['GET', '/instances?cursor=ACTIVE.e30', 400],
  ['GET', `/instances?cursor=ACTIVE.${Buffer.from('{"pk":"x","sk":"y"}').toString('base64url')}`, 400],
  ['GET', '/reservations?cursor=e30', 400],
  ['GET', '/instances?limit=1&limit=2', 400],
  ['GET', '/instances/%ZZ', 404],
  ['GET', '/instances/%00', 404],
  ['GET', '/instances/__proto__', 404],
  ['DELETE', '/instances/__proto__', 404],
  ['GET', '/__proto__', 404],
  ['OPTIONS', '/instances', 405],
  ['PATCH', '/instances/i-000000000001', 405],
  ['GET', '/offers?maxPrice=1e400', 400],
  ['GET', '/offers?maxPrice=NaN', 400],
  ['GET', '/offers?memory=99999999999GB', 400],
  ['GET', '/offers?gpu=%F0%9F%98%80', 400],
])('%s %s: %i', async (method, path, status) => {
  const answer = await api.call(method, path)
  expect(answer.status).toBe(status)
})

test.each([
  ['PUT', '/offers', 'GET'],
  ['PATCH', '/instances', 'POST, GET'],
  ['PUT', '/instances/i-000000000001', 'GET, DELETE'],
  ['GET', '/instances/i-000000000001/claim', 'POST'],
])('%s %s is refused with the methods that are known there: %s', async (method, path, allowed) => {
  const response = await fetch(`http://127.0.0.1:${api.port}${path}`, {
    method,
    headers: { authorization: 'Bearer berth_test_key_of_alice_0123456789' },
  })
  expect(response.status).toBe(405)
  expect(response.headers.get('allow')).toBe(allowed)
})

test.each([
  ['{"__proto__": {"gpu": "MI300X"}}'],
  ['{"constructor": 1}'],
  ['{"maxPrice": true}'],
  ['{"maxPrice": [5]}'],
  ['{"maxPrice": "0x10"}'],
  ['{"name": "a\\n"}'],
])('body %s: 400', async (body) => {
  const answer = await api.call('POST', '/instances', { body })
  expect(answer.status).toBe(400)
})

test.each(['/instances?cursor=', '/reservations?cursor=', '/offers?region=', '/nothing/'])(
  'a path longer than any API Gateway takes (%s…) is refused as documented',
  async (path) => {
    expect(await api.call('GET', `${path}${'a'.repeat(20_000)}`)).toEqual({
      status: 431,
      type: 'application/json',
      body: { message: 'Request Header Fields Too Large' },
    })
  },
)

test.each(['//', '//[', 'http://['])('a request target such as %s is not a 500', async (path) => {
  const answer = await new Promise<Parameters<typeof checkAnswer>[2]>((resolve, reject) => {
    const headers = { authorization: 'Bearer berth_test_key_of_alice_0123456789' }
    request({ port: api.port, path, headers }, (response) => {
      let body = ''
      response.on('data', (chunk) => {
        body += chunk
      })
      const { statusCode: status = 0, headers } = response
      const type = headers['content-type'] ?? 'none'
      response.on('end', () => resolve({ status, headers: { 'content-type': type }, body }))
    })
      .on('error', reject)
      .end()
  })
  checkAnswer('GET', path, answer)
  expect([400, 404]).toContain(answer.status)
})
