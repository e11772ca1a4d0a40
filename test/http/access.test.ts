import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createAuthorizer } from '../../lib/http/authorize.ts'
import { newApiKey } from '../../lib/http/new-api-key.ts'
import { createRequestLimit } from '../../lib/http/request-limit.ts'
import type { ApiKey } from '../../lib/store/store.ts'
import { startApi } from '../support/api.ts'
import type { World } from '../support/world.ts'
import { minute, vm, worldSuite } from '../support/world-suite.ts'

const world = worldSuite()
let w: World
let api: Awaited<ReturnType<typeof startApi>>
beforeEach(async () => {
  w = await world()
  api = await startApi(w)
})
afterEach(() => api.stop())

const addKey = async (more: Partial<ApiKey> = {}): Promise<string> => {
  const { apiKey, kept } = newApiKey({ name: 'bob', role: 'operator', createdAt: w.clock.now(), ...more })
  expect(await w.ctx.store.addApiKey(kept)).toBe(true)
  return apiKey
}

/** Every way to look at or to change an instance, and both lists. */
const requestsFor = (id: string): [string, string][] => [
  ['GET', '/offers'],
  ['GET', '/instances'],
  ['GET', '/reservations'],
  ['POST', '/instances'],
  ['GET', `/instances/${id}`],
  ['DELETE', `/instances/${id}`],
  ['POST', `/instances/${id}/claim`],
  ['POST', `/instances/${id}/release`],
]
const changesOf = (id: string) => requestsFor(id).filter(([method]) => method !== 'GET')
const unknown = 'i-ffffffffffff'
const nobody = { name: '', role: '' }

describe('a key that is none gets 401, the same for an instance that exists and for one that does not', () => {
  const keys: [string, () => Promise<string>][] = [
    ['missing', async () => ''],
    ['wrong', async () => newApiKey({ name: 'x', role: 'operator', createdAt: 0 }).apiKey],
    ['cut short', async () => (await addKey()).slice(0, -1)],
    ['longer than a right one', async () => `${await addKey()}x`],
    ['the hash of a right one', async () => newApiKeyHash()],
    ['expired', () => addKey({ expiresAt: w.clock.now() })],
    [
      'revoked',
      async () => {
        const key = await addKey()
        await w.ctx.store.removeApiKey('bob')
        return key
      },
    ],
  ]
  const newApiKeyHash = async (): Promise<string> => {
    await addKey()
    return (await w.ctx.store.listApiKeys()).find(({ name }) => name === 'bob')?.hash ?? ''
  }

  test.each(keys)('%s', async (_, make) => {
    const { id } = await w.rent(vm)
    const key = await make()
    const told = await api.call('GET', '/instances', { key: '' })
    expect(told).toMatchObject({ status: 401, type: 'application/problem+json' })
    for (const [method, path] of [...requestsFor(id), ...requestsFor(unknown)]) {
      expect(await api.call(method, path, { key }), `${method} ${path}`).toEqual(told)
    }
    expect(await w.live()).toHaveLength(1)
  })
})

describe('a viewer', () => {
  test('sees everything, and changes nothing: 403, the same whether or not an instance exists', async () => {
    const { id } = await w.rent(vm)
    const before = await w.ctx.store.get(id)
    const key = await addKey({ role: 'viewer' })
    expect((await api.call('GET', `/instances/${id}`, { key })).status).toBe(200)
    const told = await api.call('POST', '/instances', { key, body: vm })
    expect(told).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    for (const [method, path] of [...changesOf(id), ...changesOf(unknown)]) {
      expect(await api.call(method, path, { key }), `${method} ${path}`).toEqual(told)
    }
    expect(await w.live()).toHaveLength(1)
    expect(await w.ctx.store.get(id)).toEqual(before)
  })
})

describe('a key', () => {
  const status = async (key: string) => (await api.call('GET', '/instances', { key })).status

  test('is good until it expires, also while it is remembered', async () => {
    const key = await addKey({ expiresAt: w.clock.now() + 1000 })
    expect(await status(key)).toBe(200)
    w.clock.advance(999)
    expect(await status(key)).toBe(200)
    w.clock.advance(1)
    expect(await status(key)).toBe(401)
  })

  test('that was revoked is good for a minute at most, however often it is used', async () => {
    const key = await addKey()
    expect(await status(key)).toBe(200)
    await w.ctx.store.removeApiKey('bob')
    for (let second = 0; second < 59; second++) {
      w.clock.advance(1000)
      await status(key)
    }
    w.clock.advance(1000)
    expect(await status(key)).toBe(401)
  })

  test('that was refused is good as soon as it is added', async () => {
    const { apiKey, kept } = newApiKey({ name: 'bob', role: 'viewer', createdAt: 0 })
    expect(await status(apiKey)).toBe(401)
    await w.ctx.store.addApiKey(kept)
    expect(await status(apiKey)).toBe(200)
  })
})

describe('a key that asks too often', () => {
  const status = async (key: string) => (await api.call('GET', '/nothing', { key })).status
  const perSecond = 20
  const atOnce = 5 * perSecond

  test('gets 429 and when to try again, rents nothing, and is let through again then', async () => {
    const key = await addKey()
    for (let request = 0; request < atOnce; request++) expect(await status(key)).toBe(404)

    const refused = await api.call('POST', '/instances', { key, body: vm })
    expect(refused).toMatchObject({ status: 429, retryAfter: '1', body: { code: 'too_many_requests' } })
    expect(await w.live()).toEqual([])

    w.clock.advance(1000)
    for (let request = 0; request < perSecond; request++) expect(await status(key)).toBe(404)
    expect(await status(key)).toBe(429)
  })

  test('keeps no other key from asking, nor anybody from the health of the API', async () => {
    const key = await addKey()
    const other = await addKey({ name: 'carol' })
    for (let request = 0; request <= atOnce; request++) await status(key)
    expect(await status(key)).toBe(429)
    expect(await status(other)).toBe(404)
    expect((await api.call('GET', '/health', { key })).status).toBe(200)
  })

  test('saves up five seconds of requests and no more, and nothing when the clock goes back', () => {
    let now = 0
    const mayAsk = createRequestLimit(1, { now: () => now })
    const asks = (times: number) => Array.from({ length: times }, () => mayAsk('bob'))
    asks(5)
    now += 3_600_000
    asks(5)
    expect(() => mayAsk('bob')).toThrow('more than 1 times a second')
    now -= 3_600_000
    expect(() => mayAsk('bob')).toThrow('Try again in 1 s')
  })
})

describe('the authorizer', () => {
  const counted = () => {
    let reads = 0
    const { store, clock } = w.ctx
    const findApiKey: typeof store.findApiKey = (hash) => {
      reads += 1
      return store.findApiKey(hash)
    }
    const authorize = createAuthorizer({ clock, store: { ...store, findApiKey } })
    return { authorize, reads: () => reads }
  }

  test('reads a key from the table once a minute, and one that is none each time', async () => {
    const key = await addKey({ role: 'viewer' })
    const { authorize, reads } = counted()
    for (let call = 0; call < 3; call++) {
      const access = await authorize(`Bearer ${key}`)
      expect(access).toEqual({ isAuthorized: true, context: { name: 'bob', role: 'viewer' } })
    }
    expect(reads()).toBe(1)
    w.clock.advance(minute)
    await authorize(`Bearer ${key}`)
    expect(reads()).toBe(2)
    for (let call = 0; call < 3; call++) await authorize('Bearer berth_of_nobody_0123456789')
    expect(reads()).toBe(5)
  })

  test('remembers nothing beyond what it read when the clock goes back', async () => {
    const key = await addKey()
    const { store } = w.ctx
    let now = 10 * minute
    const authorize = createAuthorizer({ store, clock: { now: () => now } })
    await authorize(`Bearer ${key}`)
    await store.removeApiKey('bob')
    now -= 5 * minute
    expect(await authorize(`Bearer ${key}`)).toMatchObject({ context: nobody })
  })

  test.each([undefined, '', 'Bearer', 'Bearer ', 'Basic YWxpY2U6c2VjcmV0LXNlY3JldA==', 'Bearer short'])(
    'does not ask the table about %j',
    async (header) => {
      const { authorize, reads } = counted()
      expect(await authorize(header)).toEqual({ isAuthorized: true, context: nobody })
      expect(reads()).toBe(0)
    },
  )
})
