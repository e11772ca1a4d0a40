import { describe, expect, test } from 'vitest'
import { provision } from '../../lib/lifecycle/provision.ts'
import { terminate } from '../../lib/lifecycle/terminate.ts'
import { startApi } from '../support/api.ts'
import { a10, type ReconcilingWorld, reconciling, specsOf } from '../support/reconciling.ts'
import { bareMetal, longWorldSuite, minute, vm } from '../support/world-suite.ts'

const world = longWorldSuite()
const start = async () => reconciling(await world({ oci: true }))

const busy = ({ status }: { status: string }) => status === 'busy'
const terminated = ({ status }: { status: string }) => status === 'terminated'
const soleRecord = async (w: ReconcilingWorld) => {
  const [record, ...more] = await w.live()
  if (!record || more.length > 0) throw new Error(`there are ${more.length + (record ? 1 : 0)} live records`)
  return record
}

describe('a machine with our mark and no record', () => {
  test('on OCI is found by the first reconcile after its grace, by when it was made, and given back', async () => {
    const w = await start()
    const { cloudId } = await w.rentPast.oci('VM.GPU.A10.1', await w.markOf())
    w.clock.advance(10 * minute - 1)
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 0 })
    expect(await w.live()).toEqual([])
    w.clock.advance(1)
    expect(await w.reconcile()).toEqual({ orphans: 1, lost: 0 })
    const record = await soleRecord(w)
    expect(record).toMatchObject({ status: 'terminating', backend: 'oci', machine: { cloudId } })
    await w.runUntil(record.id, terminated, 10)
    expect(w.living()).toEqual([])
    expect(w.alarmsOf('OrphanFound')).toEqual([
      expect.objectContaining({
        instanceId: record.id,
        cloudId,
        message: expect.stringContaining('$2.00 an hour'),
      }),
    ])
  })

  test('on Hot Aisle is found by the first reconcile after its grace, by when it was first seen', async () => {
    const w = await start()
    const { cloudId } = await w.rentPast.hotaisle('vm-mi300x-1', await w.markOf())
    await w.pass(5)
    w.clock.advance(10 * minute - 1)
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 0 })
    w.clock.advance(1)
    expect(await w.reconcile()).toEqual({ orphans: 1, lost: 0 })
    const record = await soleRecord(w)
    expect(record).toMatchObject({ status: 'terminating', backend: 'hotaisle', machine: { cloudId } })
    await w.runUntil(record.id, terminated, 10)
    expect(w.stillRented()).toEqual([])
    await w.pass(5)
    expect(await w.ctx.store.sightings.get('hotaisle')).toMatchObject({ machines: {} })
    expect(w.alarms).toHaveLength(1)
  })

  test('inside its prepaid minimum is kept until that ends, and then given back without force', async () => {
    const w = await start()
    const forced: boolean[] = []
    w.alter('hotaisle', ({ release }) => ({
      release: (ref, how) => {
        forced.push(how.force)
        return release(ref, how)
      },
    }))
    await w.rentPast.hotaisle('bm-mi300x-8', await w.markOf())
    await w.pass(15)
    await w.run(455)
    await w.reconcile()
    expect(w.stillRented()).toHaveLength(1)
    expect(forced).toEqual([])
    const record = await soleRecord(w)
    expect(record).toMatchObject({
      status: 'terminating',
      reservation: { minimumMinutes: 480, state: 'active' },
    })
    expect(w.alarms.map(({ name, message }) => `${name}: ${message}`)).toEqual([
      expect.stringMatching(/^OrphanFound: .* is prepaid until 2030-01-01T08:05:00.000Z/),
    ])
    await w.run(30)
    expect(w.stillRented()).toEqual([])
    expect(forced).toEqual([false])
    const [rental] = w.rentals()
    expect((rental?.endedAt ?? 0) - (rental?.startedAt ?? 0)).toBeGreaterThanOrEqual(480 * minute)
  })

  test('of which nobody can say the minimum is kept by the refusals of its cloud, never by force', async () => {
    const w = reconciling(await world({ oci: true, bareMetal: false }))
    const forced = new Set<boolean>()
    w.alter('hotaisle', ({ release }) => ({
      release: (ref, how) => {
        forced.add(how.force)
        return release(ref, how)
      },
    }))
    await w.byHand('POST', 'bare_metal/', { specs: specsOf('bm'), description: await w.markOf() })
    await w.pass(15)
    await w.run(455)
    expect(w.stillRented()).toHaveLength(1)
    expect((await soleRecord(w)).reservation).toBeUndefined()
    await w.run(30)
    expect(w.stillRented()).toEqual([])
    expect([...forced]).toEqual([false])
    expect(w.said.filter((line) => line.startsWith('ReleaseOverdue'))).toEqual([])
  })

  test('that its cloud is taking away, or has taken away since it was listed, is nothing to do', async () => {
    const w = await start()
    const ref = await w.rentPast.oci('VM.GPU.A10.1', await w.markOf())
    w.clock.advance(20 * minute)
    const [, oci] = w.ctx.backends
    const listing = await oci?.owned()
    if (!oci || !listing) throw new Error('nothing is listed')
    await oci.release(ref, { force: false })
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 0 })
    w.clock.advance(20 * minute)
    w.alter('oci', () => ({ owned: async () => listing }))
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 0 })
    expect(w.alarms).toEqual([])
    expect(await w.live()).toEqual([])
  })

  test('of which its cloud does not say how it is waits for the next time', async () => {
    const w = await start()
    await w.rentPast.oci('VM.GPU.A10.1', await w.markOf())
    w.clock.advance(20 * minute)
    w.oracle.faults.once('getInstance', { kind: 'status', status: 503 })
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 0 })
    expect(await w.live()).toEqual([])
    expect(await w.reconcile()).toEqual({ orphans: 1, lost: 0 })
  })

  test('gets one record and one alarm from two reconciles at once', async () => {
    const w = await start()
    await w.rentPast.oci('VM.GPU.A10.1', await w.markOf())
    await w.rentPast.hotaisle('vm-mi300x-1', await w.markOf('i-00000000abce'))
    await w.pass(10)
    const before = (await w.live()).length
    await Promise.all([w.reconcile(), w.reconcile(), w.reconcile()])
    w.clock.advance(5 * minute)
    const counts = await Promise.all([w.reconcile(), w.reconcile(), w.reconcile()])
    expect(before).toBe(1)
    expect(await w.live()).toHaveLength(2)
    expect(counts.reduce((sum, { orphans }) => sum + orphans, 0)).toBe(1)
    expect(w.alarmsOf('OrphanFound')).toHaveLength(2)
    expect(w.said.filter((line) => !line.startsWith('OrphanFound'))).toEqual([])
  })
})

describe('a record that was terminated by hand while its machine runs', () => {
  test.each([
    ['Hot Aisle', bareMetal],
    ['OCI', a10],
  ])('on %s leads to a record of the same terms, in which nothing prepaid is lost', async (_, wanted) => {
    const w = await start()
    const { id } = await w.rent(wanted)
    const ready = await w.runUntil(id, busy, 70)
    await w.terminateByHand(id)
    await w.pass(15)
    const { startedAt, pricePerHourCents, minimumChargeCents, reservation, resources, zone } = ready
    const [stray] = [
      ...(await w.live()),
      ...(await w.ctx.store.list({ status: 'terminated', limit: 9 })).instances,
    ]
    expect(stray).toMatchObject({
      startedAt,
      pricePerHourCents,
      minimumChargeCents,
      resources,
      createdBy: 'alice',
    })
    expect(stray?.reservation?.until).toBe(reservation?.until)
    expect(stray?.zone).toBe(zone)
    await w.run(500)
    expect([...w.stillRented(), ...w.living()]).toEqual([])
    for (const { startedAt: from, endedAt, minimumMinutes } of w.rentals())
      expect((endedAt ?? 0) - from).toBeGreaterThanOrEqual(minimumMinutes * minute)
    expect(w.alarms.map(({ name }) => name)).toEqual(['OrphanFound'])
  })

  test('also when it was the record of a stray itself', async () => {
    const w = await start()
    await w.rentPast.hotaisle('bm-mi300x-8', await w.markOf())
    await w.pass(15)
    await w.terminateByHand((await soleRecord(w)).id)
    await w.pass(15)
    expect(await soleRecord(w)).toMatchObject({ status: 'terminating' })
    await w.run(490)
    expect(w.stillRented()).toEqual([])
  })

  test('is no orphan once the machine is being wiped', async () => {
    const w = await start()
    const { id } = await w.rent(a10)
    await w.runUntil(id, busy, 30)
    w.clock.advance(30 * minute)
    await w.remove(id)
    await terminate(w.ctx, id)
    await w.terminateByHand(id)
    expect(await w.ctx.backends[1]?.owned()).toMatchObject({ machines: [{}] })
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 0 })
    expect(w.alarms).toEqual([])
  })
})

describe('a launch that comes after it was given up', () => {
  test('is given back, and the machine that came in its place stays', async () => {
    const w = await start()
    const { id } = await w.rent(bareMetal)
    let late = async (): Promise<unknown> => undefined
    const { backends } = w.ctx
    w.alter('hotaisle', ({ launch }) => ({
      launch: (rental) => {
        late = () => launch(rental)
        return Promise.reject(new Error('killed'))
      },
    }))
    await expect(provision(w.ctx, id)).rejects.toThrow('killed')
    w.ctx.backends = backends
    const ready = await w.runUntil(id, busy, 120)
    await late()
    expect(w.rentals()).toHaveLength(2)
    await w.pass(15)
    const stray = (await w.live()).find((each) => each.id !== id)
    expect(stray).toMatchObject({ machine: { mark: await w.markOf(id, 1) }, status: 'terminating' })
    expect((await w.show(id)).machine).toEqual(ready.machine)
    await w.run(600)
    expect(w.stillRented().map(({ description }) => description)).not.toContain(await w.markOf(id, 1))
  })

  test('and whose answer comes even later makes no second record', async () => {
    const w = await start()
    const { id } = await w.rent(a10)
    let answer = () => {}
    const gate = new Promise<void>((resolve) => (answer = resolve))
    const { backends } = w.ctx
    w.alter('oci', ({ launch }) => ({
      launch: async (rental) => {
        const launched = await launch(rental)
        await gate
        return launched
      },
    }))
    const slow = provision(w.ctx, id)
    await expect.poll(w.living).toHaveLength(1)
    w.ctx.backends = backends
    await w.terminateByHand(id)
    w.clock.advance(15 * minute)
    expect(await w.reconcile()).toEqual({ orphans: 1, lost: 0 })
    answer()
    await slow
    expect(await w.live()).toHaveLength(1)
    expect(w.alarmsOf('OrphanFound')).toHaveLength(1)
  })
})

describe('what is left alone', () => {
  test('the machine of a launch whose handler died, for as long as its intent is open', async () => {
    const w = await start()
    const { id } = await w.rent(a10)
    const { backends } = w.ctx
    w.alter('oci', ({ launch }) => ({
      launch: async (rental) => {
        await launch(rental)
        throw new Error('killed')
      },
    }))
    await expect(provision(w.ctx, id)).rejects.toThrow('killed')
    w.ctx.backends = backends
    w.clock.advance(30 * minute)
    expect(await w.reconcile()).toEqual({ orphans: 0, lost: 0 })
    await w.runUntil(id, busy, 30)
    expect(w.living()).toHaveLength(1)
    expect(w.alarms).toEqual([])
  })

  test('machines in every stage of their own records', async () => {
    const w = await start()
    const all = [bareMetal, vm, a10].map((wanted) => w.rent({ ...wanted, hold: '3h' }))
    const ids = (await Promise.all(all)).map(({ id }) => id)
    for (let at = 0; at < 20; at++) {
      await w.pass(5)
      if (at === 15) for (const id of ids) await w.remove(id)
    }
    await w.run(480)
    expect([...w.stillRented(), ...w.living()]).toEqual([])
    expect(w.rentals()).toHaveLength(2)
    expect(w.alarms).toEqual([])
    expect((await Promise.all(ids.map(w.show))).map(({ terminationReason }) => terminationReason)).toEqual(
      Array.from(ids, () => 'terminated_by_user'),
    )
  })

  test("another Berth's machines, other people's, and texts that only look like a mark", async () => {
    const w = await start()
    const mark = await w.markOf()
    await w.rentPast.oci('VM.GPU.A10.1', mark.replace(/:[^:]+:i-/, ':ffffffff:i-'))
    await w.rentPast.hotaisle('vm-mi300x-1', mark.replace(/:[^:]+:i-/, ':ffffffff:i-'))
    await w.rentPast.hotaisle('vm-mi300x-1', `${mark} do not delete`)
    await w.byHand('POST', 'bare_metal/', { specs: specsOf('bm'), description: 'training, ask Eve' })
    await w.byHand('POST', 'bare_metal/', { specs: specsOf('bm') })
    await w.pass(60)
    expect(w.stillRented()).toHaveLength(4)
    expect(w.living()).toHaveLength(1)
    expect(w.alarms).toEqual([])
    expect(await w.live()).toEqual([])
  })
})

test('the API shows the record of an orphan with its machine, its price and why it is there', async () => {
  const w = await start()
  await w.rentPast.hotaisle('bm-mi300x-8', await w.markOf())
  await w.pass(15)
  const record = await soleRecord(w)
  const api = await startApi(w)
  try {
    const { body } = await api.call('GET', `/instances/${record.id}`)
    expect(body).toMatchObject({
      status: 'terminating',
      backend: 'hotaisle',
      region: 'us-michigan-1',
      instanceType: 'bm-mi300x-8',
      cloudId: 'enc1-gpu001',
      createdAt: '2030-01-01T00:15:00.000Z',
      startedAt: '2030-01-01T00:05:00.000Z',
      reservedUntil: '2030-01-01T08:05:00.000Z',
      releaseAt: '2030-01-01T08:05:00.000Z',
      holder: null,
      pricePerHour: 27.12,
      accruedCost: 216.96,
      terminationReason: 'error',
      terminationMessage: 'enc1-gpu001, rented for i-00000000abcd, has no record that leads to its end',
      events: [{ status: 'terminating' }],
    })
    const list = await api.call('GET', '/instances')
    expect(list.body.instances).toMatchObject([{ id: record.id }])
    const reservations = await api.call('GET', '/reservations')
    expect(reservations.body.reservations).toMatchObject([{ instanceId: record.id, minimumCharge: 216.96 }])
    expect(await api.call('DELETE', `/instances/${record.id}?force=true`)).toMatchObject({ status: 202 })
  } finally {
    await api.stop()
  }
})
