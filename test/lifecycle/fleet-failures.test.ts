import { beforeEach, describe, expect, test } from 'vitest'
import { settle } from '../../lib/lifecycle/fleet-settle.ts'
import { defaultStock } from '../../sandbox/clouds/hotaisle/stock.ts'
import { type FleetWorld, fleetWorldSuite } from '../support/fleet-world.ts'
import { aFleet } from '../support/fleets.ts'
import { minute } from '../support/world-suite.ts'

const world = fleetWorldSuite()
let w: FleetWorld
beforeEach(async () => {
  w = await world()
})

const bareMetal = { nodes: 1, backends: ['hotaisle'], instance_types: ['bm-mi300x-8'] }
const vms = { nodes: 2, backends: ['hotaisle'], instance_types: ['vm-mi300x-1'], idle_duration: '10m' }

test('a prepaid node that nobody has stays although its max_duration is over, and is not prepaid anew', async () => {
  const f = await world({ limits: { max_duration: 60 * minute } })
  await f.apply(bareMetal)
  await f.untilServing(1)
  await f.pass(6 * 60, 5)
  expect(f.rentals()).toHaveLength(1)
  const [node] = await f.nodes()
  expect(node?.status).toBe('idle')
  // Who takes it has it as long as anybody may.
  await f.claim(node?.id ?? '', 'bob', 9 * 60 * minute)
  await f.pass(50, 5)
  expect((await f.show(node?.id ?? '')).status).toBe('busy')
  await f.pass(15)
  expect(await f.show(node?.id ?? '')).toMatchObject({
    status: 'terminating',
    terminationReason: 'max_duration',
  })
})

describe('what cannot be had is tried again, and the pauses grow', () => {
  test('no offers: one node at a time, at most each half hour, and the fleet says why', async () => {
    w.cloud.setStock([])
    await w.apply(vms)
    await w.pass(180, 1)
    const all = (await w.ctx.store.list({ status: 'terminated', limit: 200 })).instances
    expect(all.every(({ terminationReason }) => terminationReason === 'no_offers')).toBe(true)
    expect(all.length).toBeGreaterThanOrEqual(6)
    expect(all.length).toBeLessThanOrEqual(14)
    const created = all.map(({ createdAt }) => createdAt).sort((a, b) => a - b)
    const [last = 0, before = 0] = created.reverse()
    expect(last - before).toBeGreaterThanOrEqual(30 * minute)
    expect(await w.fleet()).toMatchObject({
      missing: 2,
      missingBecause: expect.stringMatching(/no offer for .*tried again at/),
      retryAt: expect.any(String),
    })
  })

  test('after a while without offers the nodes come, all of them', async () => {
    w.cloud.setStock([])
    await w.apply(vms)
    await w.pass(20)
    w.cloud.setStock(defaultStock)
    await w.untilServing(2, 40)
  })

  test('what fails after another has served well is the first in a row again', async () => {
    w.cloud.faults.nextMachine({ gpuCount: 7 })
    await w.apply(bareMetal)
    await w.untilServing(1)
    await w.pass(9 * 60, 5)
    w.cloud.setStock(defaultStock.map((row) => ({ ...row, quantity: 9 })))
    w.cloud.faults.nextMachine({ gpuCount: 7 })
    await w.apply({ ...bareMetal, nodes: 2 })
    await w.untilServing(2, 60)
    const { failure } = (await w.ctx.store.fleets.get('amd')) ?? {}
    expect(failure).toMatchObject({ count: 1, message: expect.stringContaining('7') })
  })

  test('what fails after another has served well is the first in a row, however much is in its history', async () => {
    await w.apply({ ...vms, idle_duration: 'off' })
    await w.untilServing(2)
    for (let jobs = 0; jobs < 40; jobs++) {
      for (const { id } of await w.nodes()) await w.claim(id, 'bob')
      await w.pass(2)
      for (const { id } of await w.nodes()) await w.release(id, 'bob')
    }
    const [node] = await w.nodes()
    if (!node) throw new Error('there is no node')
    expect(node.events.length).toBeLessThan(30)
    const lost = { ...node, status: 'terminating' as const, terminationReason: 'unreachable' as const }
    const fleet = aFleet({ nodes: [{ n: 0, instanceId: node.id }] })
    expect(settle(fleet, new Map([[node.id, lost]]), w.clock.now()).failure).toMatchObject({ count: 0 })
  })

  test('prepaid servers that are not as advertised: a second one, and no third before that time is over', async () => {
    for (let launch = 0; launch < 3; launch++) w.cloud.faults.nextMachine({ gpuCount: 7 })
    await w.apply(bareMetal)
    await w.pass(7 * 60, 5)
    expect((await w.live()).map(({ terminationReason }) => terminationReason)).toEqual([
      'hardware_mismatch',
      'hardware_mismatch',
    ])
    expect(w.rentals()).toHaveLength(2)
    expect(await w.fleet()).toMatchObject({
      missing: 1,
      missingBecause: expect.stringContaining('advertised'),
    })
  })
})
