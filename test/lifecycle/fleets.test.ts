import { beforeEach, describe, expect, test } from 'vitest'
import { applyFleet } from '../../lib/lifecycle/apply-fleet.ts'
import { check } from '../../lib/lifecycle/check.ts'
import { deleteFleet } from '../../lib/lifecycle/delete-fleet.ts'
import { fleetFile } from '../../lib/model/fleet-file.ts'
import { type FleetWorld, fleetWorldSuite } from '../support/fleet-world.ts'
import { minute, vm } from '../support/world-suite.ts'

const world = fleetWorldSuite()
let w: FleetWorld
beforeEach(async () => {
  w = await world()
})

const bareMetal = { nodes: 1, backends: ['hotaisle'], instance_types: ['bm-mi300x-8'] }
const vms = { nodes: 2, backends: ['hotaisle'], instance_types: ['vm-mi300x-1'], idle_duration: '10m' }
const iso = (at: number | undefined) => new Date(at ?? 0).toISOString()
const eightHours = 8 * 60 * minute

test('a prepaid server in a fleet of one: planned, idle, claimed, given back to the fleet, lost, replaced, and in the end prepaid to its last minute', async () => {
  const planned = await w.plan(bareMetal)
  expect(planned.body).toMatchObject({
    fleet: null,
    plan: {
      action: 'create',
      create: [{ name: 'amd-0', offer: { instanceType: 'bm-mi300x-8', minimumCharge: 216.96 } }],
      keep: [],
      remove: [],
      pricePerHour: 27.12,
      minimumCharge: 216.96,
      totalPerHour: 27.12,
      messages: [expect.stringContaining('paid for 8 h at once, $216.96')],
    },
  })
  expect(await w.nodes()).toEqual([])
  expect(await w.ctx.store.fleets.list()).toEqual([])

  const applied = await w.apply(bareMetal)
  expect(applied.status).toBe(200)
  expect(applied.body.plan).toEqual(planned.body.plan)
  const [first] = await w.untilServing(1)
  expect(first).toMatchObject({ name: 'amd-0', fleet: 'amd', status: 'idle', idleDuration: 72 * 60 * minute })

  const again = await w.apply(bareMetal)
  expect(again.body).toMatchObject({ plan: { action: 'none', create: [], keep: [{ name: 'amd-0' }] } })
  expect(again.body.fleet).toMatchObject({ version: (await w.fleet()).version, missing: 0 })

  const taken = await w.rent({ gpu: 'MI300X:8', maxDuration: '3h' })
  expect(taken).toMatchObject({ id: first?.id, status: 'busy', claim: { holder: 'alice' } })
  await w.release(taken.id)
  await w.pass(10)
  expect(await w.show(taken.id)).toMatchObject({
    status: 'idle',
    idleDuration: 72 * 60 * minute,
    maxDuration: 'off',
  })
  await w.pass(200, 5)
  expect(w.stillRented()).toHaveLength(1)

  await w.deleteByHand(`bare_metal/${taken.machine?.cloudId}`)
  await w.pass(30)
  expect(await w.show(taken.id)).toMatchObject({ terminationReason: 'lost' })
  const [second] = await w.untilServing(1)
  expect(second).toMatchObject({ fleet: 'amd', status: 'idle' })
  expect(second?.id).not.toBe(taken.id)
  expect(w.rentals()).toHaveLength(2)

  const until = second?.reservation?.until
  const dropped = await w.drop()
  expect(dropped).toMatchObject({ status: 202, body: { status: 'deleting', missing: 0 } })
  expect(dropped.body.nodes).toEqual([
    expect.objectContaining({
      instanceId: second?.id,
      status: 'terminating',
      releaseAt: iso(until),
      message: `given back not before ${iso(until)}, as it is prepaid`,
    }),
  ])
  await w.pass(8 * 60 + 30, 5)
  expect(w.stillRented()).toEqual([])
  const rental = w.rentals().at(-1)
  expect((rental?.endedAt ?? 0) - (rental?.startedAt ?? 0)).toBeGreaterThanOrEqual(eightHours)
  expect((await w.api.call('GET', '/fleets/amd')).status).toBe(404)
  expect((await w.api.call('GET', '/fleets')).body).toEqual({ fleets: [] })
  expect(w.rentals()).toHaveLength(2)
})

describe('a fleet is kept at what its file says', () => {
  test('fixed nodes are never idled, however long nobody comes', async () => {
    await w.apply(vms)
    const before = await w.untilServing(2)
    await w.pass(120, 5)
    expect((await w.nodes()).map(({ id }) => id)).toEqual(before.map(({ id }) => id))
    expect(w.rentals()).toHaveLength(2)
  })

  test('an apply brings the target; what is idle goes down to min, and no further', async () => {
    await w.apply({ ...vms, nodes: { min: 1, target: 3, max: 4 } })
    await w.untilServing(3)
    await w.pass(60)
    expect(await w.nodes()).toHaveLength(1)
    expect(await w.fleet()).toMatchObject({ desired: 1, missing: 0 })
    await w.pass(60, 5)
    expect(await w.nodes()).toHaveLength(1)
    expect(w.rentals()).toHaveLength(3)
  })

  test('what a user deletes is replaced, under a name that no machine has', async () => {
    await w.apply(vms)
    const [first] = await w.untilServing(2)
    await w.remove(first?.id ?? '')
    await w.keep()
    expect((await w.nodes()).map(({ name }) => name)).toEqual(['amd-1', 'amd-2'])
    await w.untilServing(2)
    expect(w.stillRented()).toHaveLength(2)
  })

  test('fewer nodes: those that nobody has go, a claimed one stays until its claim has ended', async () => {
    await w.apply(vms)
    await w.untilServing(2)
    const taken = await w.rent(vm)
    const plan = (await w.plan({ ...vms, nodes: 0 })).body.plan
    expect(plan).toMatchObject({ action: 'update', create: [], keep: [], pricePerHour: 0 })
    expect(plan).toMatchObject({
      remove: expect.arrayContaining([
        expect.objectContaining({
          instanceId: taken.id,
          holder: 'alice',
          message: 'given back when the claim of alice has ended',
        }),
      ]),
    })
    await w.apply({ ...vms, nodes: 0 })
    const guest = await w.guest(taken.id)
    guest.activity = { runningTasks: 1, sshSessions: 0 }
    await w.pass(30)
    expect((await w.nodes()).map(({ id, status }) => [id, status])).toEqual([[taken.id, 'busy']])
    guest.activity = { runningTasks: 0, sshSessions: 0 }
    await w.release(taken.id)
    await w.pass(10)
    expect(await w.nodes()).toEqual([])
    expect(w.stillRented()).toEqual([])
  })

  test.each([
    ['it has no more use for it', () => w.apply({ ...vms, nodes: 0 })],
    ['it is deleted', () => w.drop()],
    ['its idle_duration is another', () => w.apply({ ...vms, idle_duration: '1s' })],
  ])(
    'who claims a node by its name keeps it for as long as it then was kept, though %s',
    async (_, change) => {
      await w.apply({ ...vms, idle_duration: '1h' })
      const [node] = await w.untilServing(2)
      await w.claim(node?.id ?? '', 'alice')
      const guest = await w.guest(node?.id ?? '')
      guest.activity = { runningTasks: 1, sshSessions: 0 }
      await w.pass(5)
      await change()
      guest.activity = { runningTasks: 0, sshSessions: 0 }
      await w.pass(50)
      expect(await w.show(node?.id ?? '')).toMatchObject({ status: 'busy', claim: { holder: 'alice' } })
    },
  )

  test('another kind of machine: the old one goes first, and there are never more than max', async () => {
    await w.apply({ ...vms, nodes: 1 })
    const [old] = await w.untilServing(1)
    const two = { ...vms, nodes: 1, instance_types: ['vm-mi300x-2'] }
    const applied = await w.apply(two)
    expect(applied.body).toMatchObject({
      plan: {
        create: [],
        remove: [{ instanceId: old?.id }],
        messages: [expect.stringContaining('no more than max')],
      },
      fleet: { missing: 1, missingBecause: expect.stringContaining('must be gone first') },
    })
    for (let at = 0; at < 10; at++) {
      await w.pass(1)
      expect((await w.nodes()).length).toBeLessThanOrEqual(1)
    }
    const [node] = await w.untilServing(1)
    expect(node).toMatchObject({ instanceType: 'vm-mi300x-2' })
  })

  test('of two looks at once at two idle nodes above min one node goes', async () => {
    await w.apply({ ...vms, nodes: { min: 1, target: 2 } })
    const nodes = await w.untilServing(2)
    w.clock.advance(30 * minute)
    await Promise.all(nodes.map(({ id }) => check(w.ctx, id)))
    expect(await w.nodes()).toHaveLength(1)
  })

  test('two that apply at once make one set of nodes', async () => {
    const answers = await Promise.all([w.apply(vms), w.apply(vms), w.keep(), w.keep()])
    expect(answers.slice(0, 2)).toEqual([
      expect.objectContaining({ status: 200 }),
      expect.objectContaining({ status: 200 }),
    ])
    await w.keep()
    expect((await w.nodes()).map(({ name }) => name)).toEqual(['amd-0', 'amd-1'])
  })

  test('that is deleted while a file is applied stays deleted, and who applied it is told', async () => {
    await w.apply(vms)
    await w.untilServing(2)
    const { fleets } = w.ctx.store
    let drops = 0
    const dropped: typeof fleets.get = async (name) => {
      const found = await fleets.get(name)
      if (drops++ === 0) await w.drop()
      return found
    }
    const ctx = { ...w.ctx, store: { ...w.ctx.store, fleets: { ...fleets, get: dropped } } }
    const { spec } = fleetFile.parse({ type: 'fleet', ...vms, nodes: 1 })
    await expect(applyFleet(ctx, 'amd', spec, 'alice')).rejects.toMatchObject({ code: 'fleet_deleted' })
    await w.pass(10)
    expect((await w.api.call('GET', '/fleets/amd')).status).toBe(404)
    expect(w.stillRented()).toEqual([])
  })

  test('counts to who changes it from then on: the limits of a key do not end at the fleet of another', async () => {
    await w.apply({ ...vms, nodes: 1 })
    await w.untilServing(1)
    const limits = { max_instances: 0 }
    await w.ctx.store.addApiKey({ hash: 'of bob', name: 'bob', role: 'operator', createdAt: 0, limits })
    const { spec } = fleetFile.parse({ type: 'fleet', ...vms, nodes: 3 })
    const { plan } = await applyFleet(w.ctx, 'amd', spec, 'bob')
    expect(plan.messages).toContainEqual(expect.stringContaining('counts to bob, and no longer to alice'))
    await w.pass(5)
    expect(w.rentals()).toHaveLength(1)
    expect(await w.fleet()).toMatchObject({
      createdBy: 'bob',
      missing: 2,
      missingBecause: expect.stringContaining('max_instances of the API key bob is 0'),
    })
  })

  test('that others change whenever its nodes are read can be deleted all the same', async () => {
    await w.apply(vms)
    await w.untilServing(2)
    const { get, fleets } = w.ctx.store
    let changes = 0
    const changedBefore: typeof get = async (id) => {
      const fleet = changes++ < 30 ? await fleets.get('amd') : undefined
      if (fleet) await fleets.put(fleet, fleet)
      return get(id)
    }
    const left = await deleteFleet(
      { ...w.ctx, store: { ...w.ctx.store, get: changedBefore } },
      'amd',
      'alice',
    )
    expect(left.fleet.status).toBe('deleting')
    await w.pass(10)
    expect(w.stillRented()).toEqual([])
  })

  test('while it is given back it can be applied again, and has new nodes', async () => {
    await w.apply(vms)
    await w.untilServing(2)
    await w.drop()
    expect((await w.apply(vms)).body).toMatchObject({
      plan: { action: 'create' },
      fleet: { status: 'active' },
    })
    await w.untilServing(2)
    await w.pass(10)
    expect(w.stillRented()).toHaveLength(2)
  })
})
