import { describe, expect, test } from 'vitest'
import { costsOf } from '../../lib/lifecycle/costs.ts'
import { everyLive } from '../../lib/lifecycle/every-instance.ts'
import { reconcile } from '../../lib/lifecycle/reconcile.ts'
import type { World } from '../support/world.ts'
import { bareMetal, vm, worldSuite } from '../support/world-suite.ts'

const world = worldSuite()
const terminated = ({ status }: { status: string }) => status === 'terminated'

test('an instance counts once when it is ready, with how long that took, and once when it is over, with why', async () => {
  const w = await world()
  const { id } = await w.rent({ ...vm, idleDuration: 0 })
  const ready = await w.runUntil(id, ({ status }) => status === 'busy')
  const seconds = ((ready.events.at(-1)?.at ?? 0) - ready.createdAt) / 1000
  await w.release(id)
  await w.runUntil(id, terminated)
  expect(w.counted).toEqual([`SecondsToReady hotaisle ${seconds}`, 'Ended idle_timeout 1'])
})

test('a request that nobody can meet is never ready, and counts as over', async () => {
  const w = await world()
  const { id } = await w.rent({ gpu: 'H100:8' })
  await w.runUntil(id, terminated)
  expect(w.counted).toEqual(['Ended no_offers 1'])
})

test('each reconcile counts what is rented, what of it nobody has, and what it costs an hour', async () => {
  const w = await world()
  const { id } = await w.rent(bareMetal)
  await w.rent({ ...vm, hold: '24h' })
  await w.runUntil(id, ({ status }) => status === 'busy', 60)
  await w.release(id)
  w.counted.length = 0
  await reconcile(w.ctx)
  expect(w.counted).toEqual([
    'LiveMachines hotaisle 2',
    'IdleMachines hotaisle 1',
    'PricePerHour hotaisle 29.11',
  ])
})

describe('what lives is listed whole, and once, although it changes meanwhile:', () => {
  const twoInUse = async (w: World) => {
    const ids: string[] = []
    for (const name of ['first', 'second']) {
      const { id } = await w.rent({ ...vm, name, reuse: false, idleDuration: '1h' })
      await w.runUntil(id, ({ status }) => status === 'busy', 30)
      ids.push(id)
    }
    return ids
  }
  /** Pages of one, as those of more than a hundred; `change` comes when the page with `id` has been read. */
  const listedWith = (w: World, id: string, change: () => Promise<unknown>) => {
    const { store } = w.ctx
    let isDone = false
    const list: typeof store.list = async (page) => {
      const got = await store.list({ ...page, limit: 1 })
      if (!isDone && got.instances[0]?.id === id) {
        isDone = true
        await change()
      }
      return got
    }
    return { ...w.ctx, store: { ...store, list } }
  }

  test('one that is released', async () => {
    const w = await world()
    const [first = '', second = ''] = await twoInUse(w)
    const ctx = listedWith(w, second, () => w.release(second))
    expect((await everyLive(ctx)).map(({ id }) => id).sort()).toEqual([first, second].sort())
  })

  test('one that is claimed', async () => {
    const w = await world()
    const [first = '', second = ''] = await twoInUse(w)
    await w.release(second)
    const ctx = listedWith(w, first, () => w.claim(second, 'bob'))
    const costs = await costsOf(ctx, '2030-01')
    expect(costs.map(({ instanceId }) => instanceId).sort()).toEqual([first, second].sort())
  })
})
