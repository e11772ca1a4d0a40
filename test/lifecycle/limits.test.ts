import { afterEach, describe, expect, test } from 'vitest'
import { provision } from '../../lib/lifecycle/provision.ts'
import { healSpend } from '../../lib/lifecycle/spend-record.ts'
import { startApi } from '../support/api.ts'
import type { World } from '../support/world.ts'
import { bareMetal, longWorldSuite, minute, vm, worldSuite } from '../support/world-suite.ts'

const world = worldSuite()
const longWorld = longWorldSuite()
const apis: Awaited<ReturnType<typeof startApi>>[] = []
afterEach(async () => {
  for (const api of apis.splice(0)) await api.stop()
})
const busy = ({ status }: { status: string }) => status === 'busy'
const ended = ({ status }: { status: string }) => status === 'busy' || status === 'terminated'
const withApi = async (w: Awaited<ReturnType<typeof world>>) => {
  const api = await startApi(w)
  apis.push(api)
  return api
}
const key = (name: string, limits: object) => ({
  hash: `hash of ${name}`,
  name,
  role: 'operator' as const,
  createdAt: 0,
  limits,
})

describe('of clients that race', () => {
  test('for the last dollar of a budget one wins, and the other is told the numbers', async () => {
    // Bare metal charges $216.96 at once, and there are two of it.
    const w = await world({ limits: { monthly_budget: 30_000 } })
    const wanted = { ...bareMetal, reuse: false }
    const rented = await Promise.all([w.rent(wanted), w.rent(wanted, { name: 'bob' })])
    await Promise.all(rented.map(({ id }) => provision(w.ctx, id)))
    expect(w.rentals()).toHaveLength(1)
    const both = await Promise.all(rented.map(({ id }) => w.runUntil(id, ended, 90)))
    expect(both.map(({ status }) => status).sort()).toEqual(['busy', 'terminated'])
    expect(both.find(({ status }) => status === 'terminated')).toMatchObject({
      terminationReason: 'no_offers',
      terminationMessage: expect.stringContaining(
        'monthly_budget of this deployment is $300.00, and $216.96 of it are committed; $216.96 more were asked for',
      ),
    })
    expect(w.rentals()).toHaveLength(1)
  })

  test('for the last of so many instances exactly that many win, over HTTP, at the same moment', async () => {
    const w = await world({ limits: { max_instances: 3 } })
    const api = await withApi(w)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => api.call('POST', '/instances', { body: { ...vm, reuse: false } })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 202, 202, 403, 403, 403, 403, 403])
    expect(answers.find(({ status }) => status === 403)).toMatchObject({
      type: 'application/problem+json',
      body: {
        code: 'limit_exceeded',
        detail: expect.stringContaining('max_instances of this deployment is 3, and 3 live'),
        errors: [{ path: 'limits.max_instances' }],
      },
    })
    expect(await w.live()).toHaveLength(3)
  })
})

test('a prepaid idle machine is taken, and none rented, however many others commit at the same moment', async () => {
  const w = await longWorld({ limits: { max_instances: 50 } })
  const { id } = await w.rent(bareMetal)
  await w.runUntil(id, busy, 90)
  await w.release(id)
  const others = Array.from({ length: 12 }, (_, n) => w.rent({ ...vm, reuse: false }, { name: `other-${n}` }))
  const taken = await w.rent(bareMetal, { name: 'bob' })
  await Promise.all(others)
  expect(taken.id).toBe(id)
})

describe('a limit', () => {
  test('on the price per hour skips what is too dear, and takes what fits', async () => {
    const w = await world({ limits: { max_price_per_hour: 300 } })
    const { id } = await w.rent({ gpu: 'MI300X:1..8', reuse: false })
    expect(await w.runUntil(id, busy, 30)).toMatchObject({ pricePerHourCents: 199 })
    const { id: second } = await w.rent({ gpu: 'MI300X:1..8', reuse: false })
    const refused = await w.runUntil(second, ended, 30)
    expect(refused).toMatchObject({ terminationReason: 'no_offers' })
    expect(refused.terminationMessage).toContain('max_price_per_hour of this deployment is $3.00')
  })

  test('of one key binds that key alone, and is free again when its instance has ended', async () => {
    const w = await world()
    await w.ctx.store.addApiKey(key('bob', { max_instances: 1 }))
    const bob = { name: 'bob' }
    const { id } = await w.rent({ ...vm, reuse: false }, bob)
    await w.runUntil(id, busy, 30)
    await expect(w.rent({ ...vm, reuse: false }, bob)).rejects.toThrow(
      'max_instances of the API key bob is 1',
    )
    await w.runUntil((await w.rent({ ...vm, reuse: false })).id, busy, 30)
    await w.remove(id)
    await w.runUntil(id, ({ status }) => status === 'terminated', 30)
    await w.runUntil((await w.rent({ ...vm, reuse: false }, bob)).id, busy, 30)
  })

  test('that is set while machines run counts them, and refuses with what they cost', async () => {
    const w = await world()
    await w.runUntil((await w.rent(bareMetal)).id, busy, 70)
    expect(await w.ctx.store.spend()).toBeUndefined()
    w.ctx.settings = { ...w.ctx.settings, limits: { monthly_budget: 20_000 } }
    await expect(w.rent({ ...vm, reuse: false })).rejects.toThrow(
      'monthly_budget of this deployment is $200.00, and $216.96 of it are committed',
    )
  })

  test('on the new holder keeps an idle machine from being taken by name or by a request', async () => {
    const w = await world()
    await w.ctx.store.addApiKey(key('bob', { max_price_per_hour: 100 }))
    const { id } = await w.rent({ ...vm, idleDuration: '1h' })
    await w.runUntil(id, busy, 30)
    await w.release(id)
    await expect(w.claim(id, 'bob')).rejects.toMatchObject({ code: 'limit_exceeded' })
    const { id: own } = await w.rent(vm, { name: 'bob' })
    expect(own).not.toBe(id)
  })

  test('counts a machine to who has it, and from the end of that claim to whose it is', async () => {
    const w = await world()
    await w.ctx.store.addApiKey(key('alice', { max_instances: 9 }))
    await w.ctx.store.addApiKey(key('bob', { max_instances: 1 }))
    const ids = []
    for (const idleDuration of ['9h', '1h', '9h']) {
      const { id } = await w.rent({ ...vm, reuse: false, idleDuration })
      await w.runUntil(id, busy, 30)
      await w.release(id)
      ids.push(id)
    }
    const [first = '', second = '', third = ''] = ids
    await w.claim(first, 'bob')
    await expect(w.claim(second, 'bob')).rejects.toMatchObject({ code: 'limit_exceeded' })
    await w.release(first, 'bob')
    await w.claim(second, 'bob')
    // Nobody came, and the claim lapses by itself.
    await w.runUntil(second, ({ status }) => status === 'idle', 120)
    await w.claim(third, 'bob')
    const { live } = (await w.ctx.store.spend()) ?? { live: [] }
    expect(new Map(live.map(({ id, holder }) => [id, holder]))).toEqual(
      new Map([
        [first, 'alice'],
        [second, 'alice'],
        [third, 'bob'],
      ]),
    )
  })

  test.each([
    ['deletes it', {}, (w: World, id: string) => w.remove(id)],
    ['has had it as long as asked', { maxDuration: '1h', hold: '9h' }, (w: World) => w.run(70)],
  ])('counts a prepaid machine to whose it is from when another %s', async (_, terms, ends) => {
    const w = await longWorld()
    await w.ctx.store.addApiKey(key('alice', { max_instances: 1 }))
    await w.ctx.store.addApiKey(key('bob', { max_instances: 1 }))
    const { id } = await w.rent(bareMetal)
    await w.runUntil(id, busy, 90)
    await w.release(id)
    expect((await w.rent({ ...bareMetal, ...terms }, { name: 'bob' })).id).toBe(id)
    await ends(w, id)
    expect(await w.show(id)).toMatchObject({ status: 'terminating', claim: undefined })
    expect((await w.ctx.store.spend())?.live).toMatchObject([{ id, key: 'alice', holder: 'alice' }])
    await expect(w.rent({ ...vm, reuse: false })).rejects.toMatchObject({ code: 'limit_exceeded' })
    await expect(w.rent({ ...vm, reuse: false }, { name: 'bob' })).resolves.toMatchObject({
      status: 'pending',
    })
  })

  test('that counts a machine to the wrong holder is put right', async () => {
    const w = await longWorld({ limits: { max_instances: 9 } })
    const { id } = await w.rent(bareMetal)
    const before = await w.ctx.store.spend()
    const [live] = before?.live ?? []
    if (!before || !live) throw new Error('nothing is counted')
    const { version: _, ...rest } = before
    await w.ctx.store.putSpend({ before, next: { ...rest, live: [{ ...live, holder: 'bob' }] } })
    await healSpend(w.ctx)
    expect((await w.ctx.store.spend())?.live).toMatchObject([{ id, holder: 'alice' }])
  })

  test('of a key that was removed holds on for what was asked for with it', async () => {
    const w = await world()
    await w.ctx.store.addApiKey(key('bob', { max_price_per_hour: 100 }))
    const { id } = await w.rent({ ...vm, reuse: false }, { name: 'bob' })
    await w.ctx.store.removeApiKey('bob')
    expect(await w.runUntil(id, ended, 60)).toMatchObject({ terminationReason: 'no_offers' })
    expect(w.rentals()).toEqual([])
  })

  test('on how long instances may last is the longest of each, and is said', async () => {
    const w = await world({ limits: { max_duration: 30 * minute } })
    const { id } = await w.rent({ ...vm, hold: '9h' })
    expect(await w.show(id)).toMatchObject({ maxDuration: 30 * minute })
    const gone = await w.runUntil(id, ({ status }) => status === 'terminated', 60)
    expect(gone.terminationReason).toBe('max_duration')
    expect(gone.events.map(({ message }) => message)).toContain(
      'maxDuration is 30m, not off: this deployment allows no more',
    )
  })
})

test('what a month costs is shown by backend, key and instance, and outlives the machine', async () => {
  const w = await world({ limits: { max_instances: 5, monthly_budget: 100_000 } })
  const api = await withApi(w)
  const first = await w.rent(vm)
  await w.runUntil(first.id, busy, 30)
  await w.remove(first.id, true)
  await w.runUntil(first.id, ({ status }) => status === 'terminated', 30)
  const second = await w.rent({ gpu: 'MI300X:2', reuse: false }, { name: 'bob' })
  await w.runUntil(second.id, busy, 30)
  const [one, two] = w.rentals().map(({ chargedCents }) => chargedCents(w.clock.now()) / 100)
  const { body } = await api.call('GET', '/costs')
  expect(body).toMatchObject({
    month: '2030-01',
    total: Math.round(((one ?? 0) + (two ?? 0)) * 100) / 100,
    byKey: expect.arrayContaining([
      { key: 'alice', cost: one },
      { key: 'bob', cost: two },
    ]),
    byFleet: [],
    instances: [
      { instanceId: second.id, cost: two, running: true },
      { instanceId: first.id, cost: one, running: false },
    ],
    limits: { deployment: { maxInstances: { limit: 5, used: 1 }, monthlyBudget: { limit: 1000 } }, keys: [] },
  })
  expect((await api.call('GET', '/costs?month=2029-12')).body).toMatchObject({ total: 0, instances: [] })
  expect(await api.call('GET', '/costs?month=2030-13')).toMatchObject({ status: 400 })
})
