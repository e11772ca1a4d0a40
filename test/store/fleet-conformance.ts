import { beforeEach, describe, expect, test } from 'vitest'
import type { Fleet } from '../../lib/model/fleet.ts'
import type { Store } from '../../lib/store/store.ts'
import { aFleet } from '../support/fleets.ts'
import { anIdleInstance, anInstance } from '../support/instances.ts'

/** What every store must do with fleets; `make` gives an empty one. */
export const testFleetStore = (name: string, make: () => Promise<Store>) => {
  describe(`${name} keeps fleets`, () => {
    let store: Store
    beforeEach(async () => {
      store = await make()
    })
    const put = async (previous: Fleet | undefined, next: Fleet): Promise<Fleet> => {
      const written = await store.fleets.put(previous, next)
      if (!written) throw new Error('not written')
      return written
    }
    const withNode = (fleet: Fleet, n: number, instanceId: string): Fleet => ({
      ...fleet,
      nodes: [...fleet.nodes, { n, instanceId }],
    })

    test('one that was put comes back as it was, and all are listed by name', async () => {
      const made = await put(
        undefined,
        aFleet({ name: 'two', nodes: [{ n: 0, instanceId: 'i-1', left: true }] }),
      )
      const other = await put(undefined, aFleet({ name: 'one' }))
      expect(await store.fleets.get('two')).toEqual(made)
      expect(await store.fleets.get('three')).toBeUndefined()
      expect(await store.fleets.list()).toEqual([other, made])
    })

    test('of two that make a fleet, or change what both have read, one wins, and the other changes nothing', async () => {
      const both = async (previous: Fleet | undefined) => {
        const written = await Promise.all(
          [1, 2].map((desired) => store.fleets.put(previous, aFleet({ desired }))),
        )
        expect(written.filter((each) => each !== undefined)).toHaveLength(1)
        expect(await store.fleets.get('amd')).toEqual(written.find((each) => each !== undefined))
      }
      await both(undefined)
      await both(await store.fleets.get('amd'))
      expect((await store.fleets.get('amd'))?.version).toBe(1)
    })

    test('one is removed as it was read, and a new one of that name is another', async () => {
      const first = await put(undefined, aFleet())
      const second = await put(first, { ...first, desired: 2 })
      expect(await store.fleets.remove(first)).toBe(false)
      expect(await store.fleets.remove(second)).toBe(true)
      expect(await store.fleets.list()).toEqual([])
      await put(undefined, aFleet({ createdAt: first.createdAt + 1 }))
      expect(await store.fleets.put(first, first)).toBeUndefined()
      expect(await store.fleets.remove(first)).toBe(false)
    })

    test('of two that make a node of one slot one is written, with its instance, and the other learns that it is late', async () => {
      const fleet = await put(undefined, aFleet())
      const made = await Promise.all(
        ['i-00000000000a', 'i-00000000000b'].map((id) =>
          store.create(anInstance({ id }), { fleet: { previous: fleet, next: withNode(fleet, 0, id) } }),
        ),
      )
      expect(made.filter(({ isFleetStale }) => isFleetStale)).toHaveLength(1)
      const stands = await store.fleets.get('amd')
      const { instances } = await store.list({ limit: 10 })
      expect(stands?.version).toBe(1)
      expect(stands?.nodes.map(({ instanceId }) => instanceId)).toEqual(instances.map(({ id }) => id))
    })

    test('a node whose id is taken is not made, and its fleet stays as it is', async () => {
      const fleet = await put(undefined, aFleet())
      await store.create(anInstance())
      const next = withNode(fleet, 0, 'i-000000000001')
      await expect(store.create(anInstance(), { fleet: { previous: fleet, next } })).rejects.toThrow(
        'exists already',
      )
      expect(await store.fleets.get('amd')).toEqual(fleet)
    })

    test('of two nodes that are let go on the same version of their fleet one goes', async () => {
      const fleet = await put(undefined, aFleet())
      const nodes = ['i-00000000000a', 'i-00000000000b'].map((id) => anIdleInstance({ id }))
      for (const node of nodes) await store.create(node)
      const next = { ...fleet, desired: 1 }
      const gone = await Promise.all(
        nodes.map((node) =>
          store.update(node, { ...node, status: 'terminating' }, { fleet: { previous: fleet, next } }),
        ),
      )
      expect(gone.filter((each) => each !== undefined)).toHaveLength(1)
      const statuses = await Promise.all(nodes.map(async ({ id }) => (await store.get(id))?.status))
      expect(statuses.sort()).toEqual(['idle', 'terminating'])
      expect((await store.fleets.get('amd'))?.version).toBe(1)
    })

    test('a fleet stays as it is when the instance that is written with it has changed', async () => {
      const fleet = await put(undefined, aFleet())
      const idle = anIdleInstance()
      await store.create(idle)
      await store.update(idle, { ...idle, status: 'busy' })
      const late = { ...idle, status: 'terminating' as const }
      expect(await store.update(idle, late, { fleet: { previous: fleet, next: fleet } })).toBeUndefined()
      expect(await store.fleets.get('amd')).toEqual(fleet)
    })
  })
}
