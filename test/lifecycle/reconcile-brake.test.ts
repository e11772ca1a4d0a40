import { describe, expect, test } from 'vitest'
import type { OwnedMachine } from '../../lib/backends/backend.ts'
import { anIdleInstance } from '../support/instances.ts'
import { a10, type ReconcilingWorld, reconciling } from '../support/reconciling.ts'
import { longWorldSuite, minute } from '../support/world-suite.ts'

const world = longWorldSuite()
const start = async () => reconciling(await world({ oci: true }))

/** An orphan on each cloud, past its grace at the next reconcile. */
const withOrphans = async () => {
  const w = await start()
  await w.rentPast.oci('VM.GPU.A10.1', await w.markOf())
  await w.rentPast.hotaisle('vm-mi300x-1', await w.markOf('i-00000000abce'))
  await w.reconcile()
  w.clock.advance(15 * minute)
  return w
}
const backendsOf = async (w: ReconcilingWorld) => (await w.live()).map(({ backend }) => backend)

describe('a list that failed in part touches nothing in that cloud, raises an alarm, and hides nothing of the other', () => {
  test.each(['GET virtual_machines', 'GET bare_metal'] as const)('Hot Aisle: %s', async (endpoint) => {
    const w = await withOrphans()
    w.cloud.faults.once(endpoint, { kind: 'status', status: 500 })
    expect(await w.reconcile()).toEqual({ orphans: 1, lost: 0 })
    expect(await backendsOf(w)).toEqual(['oci'])
    expect(w.alarmsOf('ReconcileBraked')).toEqual([
      expect.objectContaining({ backend: 'hotaisle', message: expect.stringContaining('500') }),
    ])
    expect(await w.reconcile()).toEqual({ orphans: 1, lost: 0 })
  })

  test('OCI: one region of several', async () => {
    const w = await withOrphans()
    w.oracle.faults.once('listInstances', { kind: 'status', status: 500 })
    expect(await w.reconcile()).toEqual({ orphans: 1, lost: 0 })
    expect(await backendsOf(w)).toEqual(['hotaisle'])
    expect(w.alarmsOf('ReconcileBraked')).toEqual([
      expect.objectContaining({ backend: 'oci', message: expect.stringContaining('500') }),
    ])
    expect(await w.reconcile()).toEqual({ orphans: 1, lost: 0 })
  })

  test('a fault of ours counts as one', async () => {
    const w = await withOrphans()
    w.alter('oci', () => ({ owned: () => Promise.reject(new Error('a bug')) }))
    expect(await w.reconcile()).toEqual({ orphans: 1, lost: 0 })
    expect(await backendsOf(w)).toEqual(['hotaisle'])
    expect(w.alarmsOf('ReconcileBraked')).toMatchObject([{ message: expect.stringContaining('a bug') }])
  })

  test('what is missing in it ends nothing', async () => {
    const w = await start()
    const { id } = await w.rent({ ...a10, hold: '2h' })
    await w.runUntil(id, ({ status }) => status === 'busy', 30)
    w.clock.advance(15 * minute)
    w.alter('oci', () => ({
      owned: async () => ({ complete: false, machines: [], message: 'half of it' }),
      state: async () => ({ state: 'gone', interrupted: false }),
    }))
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 0 })
    expect((await w.show(id)).status).toBe('busy')
  })
})

test('one machine that throws does not keep the others from their end', async () => {
  const w = await start()
  const broken = await w.rentPast.oci('VM.GPU.A10.1', await w.markOf())
  await w.rentPast.oci('VM.GPU.A10.1', await w.markOf('i-00000000abce'))
  w.clock.advance(15 * minute)
  w.alter('oci', ({ state }) => ({
    state: (ref) => (ref.cloudId === broken.cloudId ? Promise.reject(new Error('a bug')) : state(ref)),
  }))
  expect(await w.reconcile()).toEqual({ orphans: 1, lost: 0 })
  expect(w.said.join()).toContain('could not be reconciled')
})

describe('machines without a record', () => {
  test('of more than three and a fifth of all are too many to be believed: none is touched', async () => {
    const w = await start()
    const attempts = [1, 2, 3, 4]
    for (const attempt of attempts)
      await w.rentPast.hotaisle('vm-mi300x-1', await w.markOf('i-00000000abcd', attempt))
    await w.pass(60)
    expect(w.stillRented()).toHaveLength(4)
    expect(await w.live()).toEqual([])
    expect(w.alarmsOf('OrphanFound')).toEqual([])
    expect(w.alarmsOf('ReconcileBraked').at(-1)?.message).toContain(
      'nothing was touched on hotaisle, since 4 of 4 machines with our mark have no record',
    )
  })

  test('three of three are given back', async () => {
    const w = await start()
    for (const attempt of [1, 2, 3])
      await w.rentPast.oci('VM.GPU.A10.1', await w.markOf('i-00000000abcd', attempt))
    w.clock.advance(15 * minute)
    expect(await w.reconcile()).toEqual({ orphans: 3, lost: 0 })
  })
})

/** OCI as it would be with so many machines: of `all` records in service the first are not listed, and gone. */
const withMany = async (w: ReconcilingWorld, all: number, missing: number) => {
  const listed: OwnedMachine[] = []
  for (let at = 0; at < all; at++) {
    const id = `i-${String(at).padStart(12, '0')}`
    const machine = { cloudId: `ocid.${at}`, rentalId: 'compartment', mark: await w.markOf(id) }
    const place = { region: 'eu-frankfurt-1', instanceType: 'VM.GPU.A10.1' }
    await w.ctx.store.create(anIdleInstance({ id, backend: 'oci', ...place, machine }))
    if (at >= missing) listed.push({ ...place, ...machine, createdAt: w.clock.now() })
  }
  w.alter('oci', () => ({
    owned: async () => ({ complete: true, machines: listed }),
    state: async () => ({ state: 'gone', interrupted: false }),
  }))
  w.clock.advance(15 * minute)
}

describe('machines in service that are missing', () => {
  test('of more than three and a fifth of all are too many to be believed: none is ended', async () => {
    const w = await start()
    await withMany(w, 19, 4)
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 0 })
    expect(await w.ctx.store.list({ status: 'terminating', limit: 99 })).toEqual({ instances: [] })
    expect(w.alarmsOf('ReconcileBraked')).toMatchObject([
      { message: expect.stringContaining('4 of 19 machines in service are not listed') },
    ])
  })

  test.each([
    [20, 4],
    [3, 3],
  ])('of %i so few as %i are ended', async (all, missing) => {
    const w = await start()
    await withMany(w, all, missing)
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: missing })
    expect(w.alarmsOf('ReconcileBraked')).toEqual([])
  })
})
