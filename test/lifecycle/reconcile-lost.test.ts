import { describe, expect, test } from 'vitest'
import { a10, type ReconcilingWorld, reconciling } from '../support/reconciling.ts'
import { bareMetal, longWorldSuite, minute, vm } from '../support/world-suite.ts'

const world = longWorldSuite()
const start = async () => reconciling(await world({ oci: true }))
const busy = ({ status }: { status: string }) => status === 'busy'
const terminated = ({ status }: { status: string }) => status === 'terminated'

/** A machine in service, past the grace, that the next reconcile looks at before any check does. */
const inService = async (w: ReconcilingWorld, wanted: object) => {
  const { id } = await w.rent({ ...wanted, hold: '24h' })
  const { machine } = await w.runUntil(id, busy, 70)
  w.clock.advance(15 * minute)
  return { id, cloudId: machine?.cloudId ?? '' }
}

describe('a machine in service that is gone', () => {
  test.each([
    ['VM', vm, 'virtual_machines'],
    ['bare metal server', bareMetal, 'bare_metal'],
  ])('as a %s that was deleted in the console ends as lost', async (_, wanted, path) => {
    const w = await start()
    const { id, cloudId } = await inService(w, wanted)
    await w.byHand('DELETE', `${path}/${cloudId}/?force=true`)
    w.clock.advance(2 * minute)
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 1 })
    expect(await w.show(id)).toMatchObject({ status: 'terminating', terminationReason: 'lost' })
    await w.runUntil(id, terminated, 10)
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 0 })
  })

  test('as a preemptible one that OCI took back ends as interrupted', async () => {
    const w = await start()
    const { id, cloudId } = await inService(w, { gpu: 'V100', spotPolicy: 'spot' })
    await w.oracle.preempt(cloudId)
    w.clock.advance(5 * minute)
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 1 })
    expect(await w.show(id)).toMatchObject({ status: 'terminating', terminationReason: 'interrupted' })
  })

  test('and whose slot has been rented to somebody else ends as lost, and the other stays', async () => {
    const w = await start()
    const { id, cloudId } = await inService(w, bareMetal)
    await w.byHand('DELETE', `bare_metal/${cloudId}/?force=true`)
    w.clock.advance(2 * minute)
    const other = await w.rentPast.hotaisle('bm-mi300x-8', 'berth:ffffffff:i-00000000abcd:1')
    expect(other.cloudId).toBe(cloudId)
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 1 })
    await w.runUntil(id, terminated, 10)
    await w.pass(15)
    expect(w.stillRented()).toHaveLength(1)
  })
})

describe('a machine in service goes on', () => {
  test('while its list hides it and the cloud shows it when asked for it', async () => {
    const w = await start()
    const { id } = await inService(w, vm)
    const oracle = await inService(w, a10)
    const hidden = async () => ({ complete: true, machines: [] })
    for (const type of ['hotaisle', 'oci'] as const) w.alter(type, () => ({ owned: hidden }))
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 0 })
    expect([(await w.show(id)).status, (await w.show(oracle.id)).status]).toEqual(['busy', 'busy'])
  })

  test('while it is shown to nobody since the credentials are bad, which OCI answers with 404', async () => {
    const w = await start()
    const { id } = await inService(w, a10)
    w.oracle.switches.credentials = 'all_404'
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 0 })
    expect(w.alarmsOf('ReconcileBraked')).toHaveLength(1)
    w.alter('oci', () => ({ owned: async () => ({ complete: true, machines: [] }) }))
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 0 })
    expect(await w.show(id)).toMatchObject({ status: 'busy' })
    expect(w.living()).toHaveLength(1)
  })

  test('while its cloud does not say how it is', async () => {
    const w = await start()
    const { id, cloudId } = await inService(w, vm)
    await w.byHand('DELETE', `virtual_machines/${cloudId}/`)
    w.clock.advance(2 * minute)
    w.cloud.faults.once('GET virtual_machines/{vm}', { kind: 'status', status: 500 })
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 0 })
    expect((await w.show(id)).status).toBe('busy')
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 1 })
  })

  test('while it is younger than the grace, however soon it was in service', async () => {
    const w = await start()
    const { id } = await w.rent({ ...vm, hold: '2h' })
    const { startedAt = 0 } = await w.runUntil(id, busy, 10)
    w.alter('hotaisle', () => ({
      owned: async () => ({ complete: true, machines: [] }),
      state: async () => ({ state: 'gone', interrupted: false }),
    }))
    w.clock.advance(startedAt + 10 * minute - 1 - w.clock.now())
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 0 })
    w.clock.advance(1)
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 1 })
  })
})
