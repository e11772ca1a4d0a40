import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Context } from '../../lib/context.ts'
import { provision } from '../../lib/lifecycle/provision.ts'
import { reconcile } from '../../lib/lifecycle/reconcile.ts'
import { testDynamo } from '../support/dynamo.ts'
import { type ReconcilingWorld, reconciling, specsOf } from '../support/reconciling.ts'
import { startWorld } from '../support/world.ts'
import { minute, vm } from '../support/world-suite.ts'

let dynamo: Awaited<ReturnType<typeof testDynamo>>
let w: ReconcilingWorld
beforeAll(async () => {
  dynamo = await testDynamo()
})
afterAll(() => dynamo.stop())
beforeEach(async () => {
  w = reconciling(await startWorld(await dynamo.emptyStore(), { oci: true }))
})
afterEach(() => w.stop())

const busy = ({ status }: { status: string }) => status === 'busy'

test('two Berths on the same accounts leave each other alone, in service and without a record', async () => {
  const otherStore = await dynamo.emptyStore()
  const other: Context = { ...w.ctx, store: { ...otherStore, owner: async () => 'f0f0f0f0' } }
  const { id } = await w.rent({ ...vm, hold: '24h' })
  await w.runUntil(id, busy, 30)
  await w.rentPast.oci('VM.GPU.A10.1', await w.markOf())
  for (let at = 0; at < 6; at++) {
    await w.run(5)
    expect(await reconcile(other)).toEqual({ orphans: 0, lost: 0 })
  }
  expect((await w.show(id)).status).toBe('busy')
  expect(w.living()).toHaveLength(1)
  expect(w.alarms).toEqual([])
  expect((await otherStore.list({ limit: 9 })).instances).toEqual([])

  expect(await w.reconcile()).toEqual({ orphans: 1, lost: 0 })
  await w.run(5)
  expect(w.living()).toEqual([])
  expect((await w.show(id)).status).toBe('busy')
})

describe('a VM that says of nobody whose it is', () => {
  const byHand = () => w.byHand('POST', 'virtual_machines/', specsOf('vm'))
  const withKey = async () => {
    // Without a key on the account no VM is made.
    const { id } = await w.rent({ ...vm, hold: '24h' })
    await w.runUntil(id, busy, 30)
  }

  test('is told to a person once, after the grace, and never touched', async () => {
    await withKey()
    await byHand()
    await w.reconcile()
    w.clock.advance(10 * minute - 1)
    await w.reconcile()
    expect(w.alarms).toEqual([])
    w.clock.advance(1)
    await Promise.all([w.reconcile(), w.reconcile()])
    await w.pass(120)
    expect(w.alarms).toEqual([
      expect.objectContaining({
        name: 'OrphanFound',
        backend: 'hotaisle',
        cloudId: 'enc1-gpuvm002',
        message: expect.stringContaining('A person must look'),
      }),
    ])
    expect(w.stillRented()).toHaveLength(2)
    expect(await w.live()).toHaveLength(1)
    // One write when it was first seen, one when it was told: what does not change is not written.
    expect(await w.ctx.store.sightings.get('hotaisle')).toMatchObject({ version: 2 })
  })

  test('is nobody’s business once a person has described it', async () => {
    await withKey()
    await byHand()
    await w.pass(10)
    await w.byHand('PATCH', 'virtual_machines/enc1-gpuvm002/', { description: 'of Eve' })
    await w.pass(30)
    expect(w.alarms).toEqual([])
    expect(await w.ctx.store.sightings.get('hotaisle')).toMatchObject({ machines: {} })
  })

  test('is not told while it is what an open launch brings, nor when it is on a record without its mark', async () => {
    const { id } = await w.rent({ ...vm, hold: '24h' })
    const { backends } = w.ctx
    w.cloud.faults.always('PATCH virtual_machines/{vm}', { kind: 'status', status: 500 })
    w.alter('hotaisle', ({ launch }) => ({
      launch: async (rental) => {
        await launch(rental)
        throw new Error('killed')
      },
    }))
    await expect(provision(w.ctx, id)).rejects.toThrow('killed')
    w.ctx.backends = backends
    expect(w.rentals()).toMatchObject([{ description: '' }])
    for (let at = 0; at < 6; at++) {
      w.clock.advance(5 * minute)
      await w.reconcile()
    }
    await w.runUntil(id, busy, 60)
    await w.pass(30)
    expect(w.rentals()).toMatchObject([{ description: '', endedAt: null }])
    expect(w.alarms).toEqual([])
  })
})
