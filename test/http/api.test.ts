import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startApi } from '../support/api.ts'
import type { World } from '../support/world.ts'
import { bareMetal, vm, worldSuite } from '../support/world-suite.ts'

const world = worldSuite()
let w: World
let api: Awaited<ReturnType<typeof startApi>>
beforeEach(async () => {
  w = await world()
  api = await startApi(w)
})
afterEach(() => api.stop())

const written = async () => (await w.live()).length

describe('bad input is refused with a problem that names the field, and nothing is written', () => {
  test.each([
    ['wrong JSON', '{"gpu": ', 400, 'body'],
    ['an array', '[]', 400, 'body'],
    ['an unknown field', { gpuu: 'MI300X' }, 400, 'gpuu'],
    ['no GPUs', { gpu: 'MI300X:0' }, 400, 'gpu'],
    ['a name with spaces', { name: 'my machine' }, 400, 'name'],
    ['a name that is a number', { name: 7 }, 400, 'name'],
    ['a cloud that is not known', { backends: ['azure'] }, 400, 'backends.0'],
    ['a negative price', { maxPrice: -1 }, 400, 'maxPrice'],
    ['a span in words', { idleDuration: 'soon' }, 400, 'idleDuration'],
    ['a hold that never ends', { hold: 'off' }, 400, 'hold'],
    ['a hold without a claim', { claim: false, hold: '1h' }, 400, 'hold'],
    ['a private key', { sshKeys: ['-----BEGIN OPENSSH PRIVATE KEY-----'] }, 400, 'sshKeys.0'],
    ['a spot policy of its own', { spotPolicy: 'cheap' }, 400, 'spotPolicy'],
    ['a body of 1 MB', JSON.stringify({ name: 'a'.repeat(1_000_000) }), 413, 'body'],
    ['a body of 20 MB', 'a'.repeat(20_000_000), 413, 'body'],
  ])('%s', async (_, body, status, path) => {
    const answer = await api.call('POST', '/instances', { body })
    expect(answer).toMatchObject({ status, type: 'application/problem+json' })
    expect(answer.body).toMatchObject({
      status,
      title: expect.any(String),
      detail: expect.stringContaining('Nothing was done'),
    })
    expect(answer.body.errors).toContainEqual({ path, message: expect.any(String) })
    expect(await written()).toBe(0)
  })

  test.each([
    ['/offers?gpu=MI300X:0', 'gpu'],
    ['/offers?memory=lots', 'memory'],
    ['/offers?colour=red', 'colour'],
    ['/offers?maxPrice=free', 'maxPrice'],
    ['/instances?status=gone', 'status'],
    ['/instances?limit=0', 'limit'],
    ['/instances?cursor=nonsense', 'cursor'],
    ['/reservations?cursor=nonsense', 'cursor'],
  ])('GET %s', async (path, field) => {
    const answer = await api.call('GET', path)
    expect(answer).toMatchObject({ status: 400, type: 'application/problem+json' })
    expect(answer.body.errors).toContainEqual({ path: field, message: expect.any(String) })
  })

  test('an Idempotency-Key with spaces', async () => {
    const answer = await api.call('POST', '/instances', { body: vm, headers: { 'idempotency-key': 'a b' } })
    expect(answer.body.errors).toEqual([{ path: 'Idempotency-Key', message: expect.any(String) }])
    expect(await written()).toBe(0)
  })

  test.each([
    ['GET', '/instances/i-000000000009', 404],
    ['GET', '/instances/../../etc/passwd', 404],
    ['GET', '/nothing', 404],
    ['PUT', '/instances', 405],
    ['DELETE', '/instances/i-000000000009?force=maybe', 400],
  ])('%s %s is %i', async (method, path, status) => {
    const answer = await api.call(method, path)
    expect(answer).toMatchObject({ status, type: 'application/problem+json' })
  })
})

describe('an Idempotency-Key', () => {
  const headers = { 'idempotency-key': 'order-66' }

  test('sent twice gives one instance', async () => {
    const first = await api.call('POST', '/instances', { body: vm, headers })
    const second = await api.call('POST', '/instances', { body: vm, headers })
    expect(first.status).toBe(202)
    expect(second.body.id).toBe(first.body.id)
    expect(await written()).toBe(1)
  })

  test('sent five times at the same moment gives one instance', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => api.call('POST', '/instances', { body: vm, headers })),
    )
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202])
    expect(await written()).toBe(1)
  })

  test('sent with another body is refused', async () => {
    await api.call('POST', '/instances', { body: vm, headers })
    const other = await api.call('POST', '/instances', { body: bareMetal, headers })
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_conflict' } })
    expect(await written()).toBe(1)
  })

  test('takes one idle machine only once', async () => {
    const { id } = await w.rent({ gpu: 'MI300X:2', claim: false })
    await w.runUntil(id, ({ status }) => status === 'idle')
    const body = { gpu: 'MI300X:2' }
    const first = await api.call('POST', '/instances', { body, headers })
    const again = await api.call('POST', '/instances', { body, headers })
    expect(first.body.id).toBe(id)
    expect(again.body.id).toBe(id)
    expect(await written()).toBe(1)
  })
})

describe('without a valid key', () => {
  test.each([
    ['none', ''],
    ['a wrong one', 'berth_test_key_of_nobody_012345678'],
    ['something else', 'x'],
  ])('%s: 401, and nothing is told', async (_, key) => {
    for (const path of ['/offers', '/instances', '/instances/i-000000000001', '/reservations', '/nothing']) {
      const answer = await api.call('GET', path, { key })
      expect(answer).toMatchObject({
        status: 401,
        type: 'application/problem+json',
        body: { code: 'unauthorized' },
      })
    }
  })

  test('only the health can be asked for', async () => {
    expect(await api.call('GET', '/health', { key: '' })).toMatchObject({
      status: 200,
      body: { status: 'ok' },
    })
  })
})

describe('offers', () => {
  test('show the bare metal server as it is sold', async () => {
    const { body } = await api.call('GET', '/offers?gpu=MI300X:8')
    expect(body).toEqual({
      errors: [],
      offers: [
        {
          id: expect.stringMatching(/^hotaisle\/us-michigan-1\/bm-mi300x-8\//),
          backend: 'hotaisle',
          region: 'us-michigan-1',
          zones: [],
          instanceType: 'bm-mi300x-8',
          resources: {
            cpu: { arch: 'x86', count: 104 },
            memoryGb: 2048,
            diskGb: 447,
            localDisks: [0, 1, 2, 3, 5, 6, 7, 8].map((number) => ({
              mountPath: `/mnt/nvme${number}n1p1`,
              sizeGb: 14_305,
            })),
            gpu: { vendor: 'amd', name: 'MI300X', memoryGb: 192, count: 8 },
            spot: false,
          },
          pricePerHour: 27.12,
          availability: 'available',
          minimumReservationMinutes: 480,
          minimumCharge: 216.96,
        },
      ],
    })
  })

  test.each([
    ['', 4],
    ['?gpu=amd:1', 2],
    ['?gpu=nvidia', 0],
    ['?backend=hotaisle&region=us-michigan-1', 4],
    ['?region=eu-frankfurt-1', 0],
    ['?instanceType=vm-mi300x-2', 1],
    ['?maxPrice=3.98', 3],
    ['?spotPolicy=spot', 0],
    ['?cpu=x86:10..&memory=200GB..', 3],
    ['?cpu=arm', 0],
  ])('GET /offers%s: %i', async (query, count) => {
    const { body } = await api.call('GET', `/offers${query}`)
    expect(body.offers).toHaveLength(count)
  })

  test('come with the errors of what could not be had', async () => {
    w.cloud.faults.always('GET virtual_machines/available', { kind: 'status', status: 500 })
    const { status, body } = await api.call('GET', '/offers')
    expect(status).toBe(200)
    expect(body.offers).toHaveLength(1)
    expect(body.errors).toMatchObject([
      { backend: 'hotaisle', code: 'no_answer', message: expect.stringContaining('500') },
    ])
  })

  test('list idle machines first, with what they are', async () => {
    const { id } = await w.rent({ gpu: 'MI300X:2', claim: false })
    await w.runUntil(id, ({ status }) => status === 'idle')
    const { body } = await api.call('GET', '/offers?gpu=MI300X:2')
    expect(body.offers).toMatchObject([
      { availability: 'idle', instanceId: id, pricePerHour: 3.98, minimumCharge: 0 },
      { availability: 'available', minimumCharge: 3.98 },
    ])
  })
})

describe('an instance', () => {
  test('is shown with everything that there is to know, and null for what there is not', async () => {
    const { body } = await api.call('POST', '/instances', {
      body: { ...vm, name: 'trainer', idleDuration: '10m' },
    })
    expect(body).toMatchObject({
      name: 'trainer',
      status: 'pending',
      phase: null,
      cloudId: null,
      idleDuration: '10m',
      holder: 'alice',
    })
    const id = String(body.id)
    await w.runUntil(id, ({ status }) => status === 'busy')
    const shown = await api.call('GET', `/instances/${id}`)
    expect(shown.body).toMatchObject({
      id,
      status: 'busy',
      backend: 'hotaisle',
      instanceType: 'vm-mi300x-1',
      pricePerHour: 1.99,
      minimumCharge: 0.04,
      hostname: '127.0.0.1',
      sshUsername: 'hotaisle',
      hostKeyFingerprint: expect.stringMatching(/^SHA256:/),
      startedAt: expect.stringMatching(/^2030-01-01T00:0\d:\d\d\.\d{3}Z$/),
      hardware: { verdict: 'match' },
      terminationReason: null,
      accruedCost: expect.any(Number),
    })
    expect(shown.body.events).toContainEqual({
      at: expect.any(String),
      status: 'busy',
      phase: null,
      message: 'ready for alice',
    })
  })

  test('can be claimed, released and deleted', async () => {
    const { id } = await w.rent({ gpu: 'MI300X:2', claim: false })
    await w.runUntil(id, ({ status }) => status === 'idle')
    expect((await api.call('POST', `/instances/${id}/claim`, { body: { hold: '2h' } })).body).toMatchObject({
      status: 'busy',
      holder: 'alice',
    })
    expect((await api.call('POST', `/instances/${id}/release`)).body).toMatchObject({
      status: 'idle',
      holder: null,
    })
    expect(await api.call('POST', `/instances/${id}/release`)).toMatchObject({
      status: 409,
      body: { code: 'not_claimed' },
    })
    expect(await api.call('DELETE', `/instances/${id}`)).toMatchObject({
      status: 202,
      body: { status: 'terminating' },
    })
    expect(await api.call('POST', `/instances/${id}/claim`)).toMatchObject({
      status: 409,
      body: { code: 'not_claimable' },
    })
  })

  test('that is deleted by force says what is forfeited', async () => {
    const { id } = await w.rent({ gpu: 'MI300X:2' })
    await w.runUntil(id, ({ status }) => status === 'busy')
    const { body } = await api.call('DELETE', `/instances/${id}?force=true`)
    expect(body.forfeited).toMatch(
      /^\$3\.98 was charged for the time until .*; 5\d prepaid minutes are forfeited$/,
    )
  })

  test('is listed by its status, and its reservation with its money', async () => {
    const { id } = await w.rent({ gpu: 'MI300X:2' })
    await w.runUntil(id, ({ status }) => status === 'busy')
    expect((await api.call('GET', '/instances?status=busy')).body.instances).toMatchObject([{ id }])
    expect((await api.call('GET', '/instances?status=idle')).body.instances).toEqual([])
    expect((await api.call('GET', '/reservations')).body.reservations).toMatchObject([
      { instanceId: id, minimumMinutes: 60, pricePerHour: 3.98, minimumCharge: 3.98, state: 'active' },
    ])
  })
})
