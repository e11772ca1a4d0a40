import { afterEach, beforeEach, expect, test } from 'vitest'
import { startApi } from '../support/api.ts'
import type { World } from '../support/world.ts'
import { worldSuite } from '../support/world-suite.ts'

const world = worldSuite()
let w: World
let api: Awaited<ReturnType<typeof startApi>>
beforeEach(async () => {
  w = await world()
  api = await startApi(w)
})
afterEach(() => api.stop())

test.each(['GET', 'POST'])(
  '%s is answered as a problem although its function cannot begin',
  async (method) => {
    const broken = await startApi(w, async () => {
      throw new Error('SSM has no parameter /berth/prod/settings')
    })
    const answer = await broken.call(
      method,
      '/instances',
      method === 'POST' ? { body: { gpu: 'MI300X' } } : {},
    )
    await broken.stop()
    expect(answer).toMatchObject({
      status: 500,
      type: 'application/problem+json',
      body: { code: 'internal' },
    })
    expect(JSON.stringify(answer)).not.toContain('SSM')
  },
)

test('a fault of ours shows nothing of itself, and is logged', async () => {
  w.ctx.store.list = () => Promise.reject(new Error('secret internals'))
  const answer = await api.call('GET', '/instances')
  expect(answer).toMatchObject({ status: 500, type: 'application/problem+json', body: { code: 'internal' } })
  expect(JSON.stringify(answer)).not.toContain('secret internals')
  expect(w.said).toContain('a request failed')
})
