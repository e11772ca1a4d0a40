import { beforeEach, describe, expect, test } from 'vitest'
import type { Instance } from '../../lib/model/instance.ts'
import type { Store } from '../../lib/store/store.ts'
import { anIdleInstance, anInstance } from '../support/instances.ts'
import { testFleetStore } from './fleet-conformance.ts'

/** What every store must do; `make` gives an empty one. */
export const testStore = (name: string, make: () => Promise<Store>) => {
  testFleetStore(name, make)

  describe(`${name} keeps instances`, () => {
    let store: Store
    beforeEach(async () => {
      store = await make()
    })

    test('one that was created comes back as it was', async () => {
      const made = anIdleInstance({
        reservation: { until: 9e12, minimumMinutes: 60, chargeCents: 398, state: 'active' },
      })
      await store.create(made)
      expect(await store.get(made.id)).toEqual(made)
      expect(await store.get('i-ffffffffffff')).toBeUndefined()
    })

    test('of two writes on the same version one wins, and the other changes nothing', async () => {
      const made = anInstance()
      await store.create(made)
      const results = await Promise.all([
        store.update(made, { ...made, name: 'left' }),
        store.update(made, { ...made, name: 'right' }),
      ])
      const winners = results.filter((result) => result !== undefined)
      expect(winners).toHaveLength(1)
      expect(winners[0]?.version).toBe(1)
      expect(await store.get(made.id)).toEqual(winners[0])
    })

    test('the same id cannot be created twice', async () => {
      await store.create(anInstance())
      await expect(store.create(anInstance({ name: 'other' }))).rejects.toThrow('exists already')
      expect((await store.get('i-000000000001'))?.name).toBe('one')
    })

    test('a long history moves off the record and is lost nowhere', async () => {
      const copies = await withEvents(60)
      const last = copies.at(-1)
      expect(last?.events.length).toBeLessThanOrEqual(24)
      expect(await historyOf(last)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
    })

    test('a copy of the record that was read before more was written has its own history, each event once', async () => {
      for (const [index, copy] of (await withEvents(60)).entries()) {
        expect(await historyOf(copy)).toEqual(Array.from({ length: index + 1 }, (_, at) => at + 1))
      }
    })

    /** The record after each of so many events. */
    const withEvents = async (count: number): Promise<Instance[]> => {
      const copies: Instance[] = []
      let current: Instance | undefined = anInstance({ events: [] })
      await store.create(current)
      for (let at = 1; at <= count && current; at++) {
        const events: Instance['events'] = [
          ...current.events,
          { at, status: 'pending', message: `event ${at}` },
        ]
        current = await store.update(current, { ...current, events })
        if (current) copies.push(current)
      }
      return copies
    }

    const historyOf = async (copy: Instance | undefined) =>
      copy && [...(await store.olderEvents(copy)), ...copy.events].map(({ at }) => at)
  })

  describe(`${name} keeps what is committed and what was spent`, () => {
    const line = {
      month: '2026-03',
      instanceId: 'i-000000000001',
      name: 'one',
      key: 'alice',
      cents: 7,
      ms: 9,
    }
    const first = { before: undefined, next: { madeAt: 1, live: [], settled: {} } }
    let store: Store
    beforeEach(async () => {
      store = await make()
    })

    test('of two that write it on the same version one wins', async () => {
      expect(await store.spend()).toBeUndefined()
      expect(await Promise.all([store.putSpend(first), store.putSpend(first)])).toContain(false)
      const before = await store.spend()
      expect(before).toEqual({ version: 1, madeAt: 1, live: [], settled: {} })
      expect(await store.putSpend({ before, next: { ...first.next, madeAt: 2 } })).toBe(true)
      expect(await store.putSpend({ before, next: { ...first.next, madeAt: 3 } })).toBe(false)
      expect(await store.spend()).toMatchObject({ version: 2, madeAt: 2 })
    })

    test('of two that create on it at the same moment one is created, and the other told', async () => {
      const created = await Promise.all(
        ['i-000000000001', 'i-000000000002'].map((id) => store.create(anInstance({ id }), { spend: first })),
      )
      expect(created).toContainEqual({})
      expect(created).toContainEqual({ spendChanged: true })
      expect((await store.list({ limit: 9 })).instances).toHaveLength(1)
    })

    test('an end, its costs and what is committed are written together, or not at all', async () => {
      const made = anInstance()
      await store.create(made, { spend: first })
      const stale = await store.update(made, { ...made, name: 'late' }, { spend: first, costs: [line] })
      expect(stale).toBeUndefined()
      expect(await store.costs('2026-03')).toEqual([])
      expect((await store.get(made.id))?.name).toBe('one')
      const spend = { before: await store.spend(), next: { ...first.next, madeAt: 5 } }
      expect(await store.update(made, made, { spend, costs: [line] })).toMatchObject({ version: 1 })
      expect(await store.costs('2026-03')).toEqual([line])
      expect(await store.costs('2026-02')).toEqual([])
      expect(await store.spend()).toMatchObject({ version: 2, madeAt: 5 })
    })

    test('the limits of a key are found by its name, also when it was removed, until another has that name', async () => {
      const key = {
        hash: 'h',
        name: 'bob',
        role: 'operator',
        createdAt: 1,
        limits: { max_instances: 3 },
      } as const
      await store.addApiKey(key)
      expect(await store.keyLimits('bob')).toEqual({ max_instances: 3 })
      expect(await store.keyLimits('eve')).toBeUndefined()
      await store.removeApiKey('bob')
      expect(await store.keyLimits('bob')).toEqual({ max_instances: 3 })
      expect(await store.listApiKeys()).toEqual([])
      expect(await store.removeApiKey('bob')).toBeUndefined()
      expect(await store.addApiKey({ ...key, hash: 'other', limits: { max_instances: 4 } })).toBe(true)
      expect(await store.keyLimits('bob')).toEqual({ max_instances: 4 })
    })
  })

  describe(`${name} answers an idempotency key once`, () => {
    const once = { scope: 'alice', key: 'k-1', fingerprint: 'body-1' }
    let store: Store
    beforeEach(async () => {
      store = await make()
    })

    test('two creates at the same moment make one instance, and both learn which', async () => {
      const [left, right] = [anInstance({ id: 'i-00000000000a' }), anInstance({ id: 'i-00000000000b' })]
      const results = await Promise.all([store.create(left, { once }), store.create(right, { once })])
      const used = results.flatMap((result) => result.used ?? [])
      expect(used).toHaveLength(1)
      const { instances } = await store.list({ limit: 10 })
      expect(instances.map(({ id }) => id)).toEqual([used[0]?.instance.id])
    })

    test('a claim and its key are written together or not at all', async () => {
      const idle = anIdleInstance()
      await store.create(idle)
      await store.create(anInstance({ id: 'i-00000000000c' }), { once })
      expect(await store.update(idle, { ...idle, status: 'busy' }, { once })).toBeUndefined()
      expect((await store.get(idle.id))?.status).toBe('idle')
    })

    test('the key of one scope is not that of another', async () => {
      await store.create(anInstance(), { once })
      expect(await store.used({ scope: 'alice', key: 'k-1' })).toMatchObject({ fingerprint: 'body-1' })
      expect(await store.used({ scope: 'bob', key: 'k-1' })).toBeUndefined()
    })
  })

  describe(`${name} lists`, () => {
    let store: Store
    beforeEach(async () => {
      store = await make()
    })

    const all = async (status?: Instance['status']) => {
      const found: Instance[] = []
      let cursor: string | undefined
      do {
        const page = await store.list({ limit: 2, ...(status && { status }), ...(cursor && { cursor }) })
        found.push(...page.instances)
        cursor = page.cursor
      } while (cursor)
      return found.map(({ name }) => name)
    }

    test('those of a status, and without one all that are not terminated, page by page', async () => {
      const statuses = [
        'pending',
        'provisioning',
        'idle',
        'idle',
        'idle',
        'busy',
        'terminating',
        'terminated',
      ] as const
      for (const [index, status] of statuses.entries()) {
        await store.create(
          anInstance({ id: `i-00000000000${index}`, name: `${status} ${index}`, status, createdAt: index }),
        )
      }
      expect(await all('idle')).toEqual(['idle 4', 'idle 3', 'idle 2'])
      expect(await all('busy')).toEqual(['busy 5'])
      expect(await all('terminated')).toEqual(['terminated 7'])
      expect((await all()).sort()).toEqual(
        ['pending 0', 'provisioning 1', 'idle 2', 'idle 3', 'idle 4', 'busy 5', 'terminating 6'].sort(),
      )
    })

    test('what has a reservation, by its end, and only from the time asked for', async () => {
      for (const [index, until] of [3000, 1000, 2000].entries()) {
        const reservation = { until, minimumMinutes: 1, chargeCents: 1, state: 'active' as const }
        await store.create(anIdleInstance({ id: `i-00000000000${index}`, reservation }))
      }
      await store.create(anIdleInstance({ id: 'i-000000000009' }))
      const { instances } = await store.reserved({ since: 1500, limit: 10 })
      expect(instances.map(({ reservation }) => reservation?.until)).toEqual([2000, 3000])
    })

    test('what is due, and not what is later, and not what has no date', async () => {
      for (let index = 0; index < 40; index++) {
        await store.create(anInstance({ id: `i-0000000000${index + 10}`, sweepAt: index < 20 ? 1000 : 2000 }))
      }
      await store.create(anInstance({ id: 'i-0000000000ff', sweepAt: undefined }))
      expect(await store.due(1500, 100)).toHaveLength(20)
      expect(await store.due(2000, 100)).toHaveLength(40)
      expect(await store.due(999, 100)).toHaveLength(0)
    })

    test('an instance whose date moved is due at the new one alone', async () => {
      const made = anInstance({ sweepAt: 1000 })
      await store.create(made)
      const moved = await store.update(made, { ...made, sweepAt: 5000 })
      expect(await store.due(4000, 10)).toEqual([])
      expect(await store.due(5000, 10)).toEqual([moved])
    })
  })

  describe(`${name} keeps locks and keys`, () => {
    let store: Store
    beforeEach(async () => {
      store = await make()
    })

    test('a lock has one owner, who may prolong it, until it is given back or runs out', async () => {
      const take = (owner: string, now: number, until: number) =>
        store.takeLock('hotaisle:acme', owner, { now, until })
      expect(await take('a', 0, 100)).toBe(true)
      expect(await take('b', 50, 150)).toBe(false)
      expect(await take('a', 50, 200)).toBe(true)
      expect(await take('b', 201, 300)).toBe(true)
      await store.freeLock('hotaisle:acme', 'a')
      expect(await take('a', 250, 400)).toBe(false)
      await store.freeLock('hotaisle:acme', 'b')
      expect(await take('a', 250, 400)).toBe(true)
    })

    test('of two that take a free lock at once one gets it', async () => {
      const both = ['a', 'b'].map((owner) => store.takeLock('l', owner, { now: 0, until: 100 }))
      expect((await Promise.all(both)).sort()).toEqual([false, true])
    })

    const aKey = { hash: 'abc', name: 'alice', role: 'operator' as const, createdAt: 1 }
    const others = { hash: 'def', name: 'bob', role: 'viewer' as const, createdAt: 2, expiresAt: 3 }

    test('an API key is found by its hash', async () => {
      expect(await store.addApiKey(aKey)).toBe(true)
      expect(await store.findApiKey('abc')).toEqual(aKey)
      expect(await store.findApiKey('abd')).toBeUndefined()
    })

    test('API keys are listed by name, with when they expire', async () => {
      expect(await store.listApiKeys()).toEqual([])
      await store.addApiKey(others)
      await store.addApiKey(aKey)
      expect(await store.listApiKeys()).toEqual([aKey, others])
    })

    test('a name has one API key: another is refused and lets nobody in, and the same one changes nothing', async () => {
      await store.addApiKey(aKey)
      expect(await store.addApiKey({ ...aKey, hash: 'other' })).toBe(false)
      expect(await store.findApiKey('other')).toBeUndefined()
      expect(await store.addApiKey(aKey)).toBe(true)
      expect(await store.listApiKeys()).toEqual([aKey])
    })

    test('of two API keys that ask for a name at once one gets it, and the other is none', async () => {
      const hashes = ['left', 'right']
      const added = await Promise.all(hashes.map((hash) => store.addApiKey({ ...aKey, hash })))
      const found = await Promise.all(hashes.map((hash) => store.findApiKey(hash)))
      expect([...added].sort()).toEqual([false, true])
      expect(found.map((key) => key !== undefined)).toEqual(added)
    })

    test('an API key is changed as long as it is one, and does not come back by that', async () => {
      await store.addApiKey(aKey)
      const limited = { ...aKey, limits: { max_instances: 2 } }
      expect(await store.changeApiKey(limited)).toBe(true)
      expect(await store.findApiKey(aKey.hash)).toEqual(limited)
      expect(await store.listApiKeys()).toEqual([limited])
      expect(await store.changeApiKey({ ...limited, hash: 'of another' })).toBe(false)
      await store.removeApiKey('alice')
      expect(await store.changeApiKey(aKey)).toBe(false)
      expect(await store.findApiKey(aKey.hash)).toBeUndefined()
      expect(await store.listApiKeys()).toEqual([])
    })

    test('an API key that was removed is found no more, and its name is free', async () => {
      await store.addApiKey(aKey)
      await store.addApiKey(others)
      expect(await store.removeApiKey('alice')).toEqual(aKey)
      expect(await store.removeApiKey('alice')).toBeUndefined()
      expect(await store.findApiKey('abc')).toBeUndefined()
      expect(await store.listApiKeys()).toEqual([others])
      expect(await store.addApiKey({ ...aKey, hash: 'new' })).toBe(true)
      expect(await store.findApiKey('abc')).toBeUndefined()
    })

    test('a catalogue comes back as it was put, the last one counts, and each backend has its own', async () => {
      const rows = [{ shape: 'A', price: 0.5, gpu: null, sizes: [1, 2.5] }]
      expect(await store.catalogues.get('oci')).toBeUndefined()
      await store.catalogues.put('oci', { madeAt: 1, rows: [] })
      await store.catalogues.put('oci', { madeAt: 2, rows })
      expect(await store.catalogues.get('oci')).toEqual({ madeAt: 2, rows })
      expect(await store.catalogues.get('hotaisle')).toBeUndefined()
    })

    test('sightings come back as they were put, and each backend has its own', async () => {
      expect(await store.sightings.get('oci')).toBeUndefined()
      const seen = { 'vm-1 d.1': { firstSeenAt: 1 }, 'vm-2': { firstSeenAt: 2, told: true } }
      expect(await store.sightings.put('oci', undefined, seen)).toBe(true)
      expect(await store.sightings.get('oci')).toEqual({ version: 1, machines: seen })
      expect(await store.sightings.put('oci', { version: 1, machines: seen }, {})).toBe(true)
      expect(await store.sightings.get('oci')).toEqual({ version: 2, machines: {} })
      expect(await store.sightings.get('hotaisle')).toBeUndefined()
    })

    test('of two that put sightings on what both have read one wins, and the other changes nothing', async () => {
      const both = (before: Awaited<ReturnType<typeof store.sightings.get>>) =>
        Promise.all(
          [1, 2].map((firstSeenAt) => store.sightings.put('oci', before, { 'vm-1': { firstSeenAt } })),
        )
      expect((await both(undefined)).sort()).toEqual([false, true])
      const first = await store.sightings.get('oci')
      expect((await both(first)).sort()).toEqual([false, true])
      expect((await store.sightings.get('oci'))?.version).toBe(2)
    })

    test('the deployment has one name, also for two that ask first', async () => {
      const [left, right] = await Promise.all([store.owner(), store.owner()])
      expect(left).toBe(right)
      expect(left).toMatch(/^[0-9a-f]{8}$/)
    })
  })
}
