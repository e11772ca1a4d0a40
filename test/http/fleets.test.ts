import { beforeEach, describe, expect, test } from 'vitest'
import { hashOf } from '../../lib/http/authorize.ts'
import { type FleetWorld, fleetWorldSuite } from '../support/fleet-world.ts'

const world = fleetWorldSuite()
let w: FleetWorld
beforeEach(async () => {
  w = await world()
})
const vms = { nodes: 2, backends: ['hotaisle'], instance_types: ['vm-mi300x-1'] }
const written = async () => [...(await w.ctx.store.fleets.list()), ...(await w.live())]

describe('a file that is not right is refused with a problem that names each key, and nothing is written', () => {
  test.each([
    ['a key that nobody knows', { ...vms, node: 1 }, 'node', 'this key is not known'],
    ['a key that Berth does not support', { ...vms, placement: 'cluster' }, 'placement', 'does not support'],
    [
      'one of the resources',
      { ...vms, resources: { shm_size: '8GB' } },
      'resources.shm_size',
      'does not support',
    ],
    ['another type', { ...vms, type: 'task' }, 'type', 'fleet'],
    ['no nodes', { backends: ['hotaisle'] }, 'nodes', 'write a number'],
    ['the name of another fleet', { ...vms, name: 'other' }, 'name', 'must be the same'],
    ['a cloud of dstack alone', { ...vms, backends: ['aws'] }, 'backends.0', 'hotaisle'],
  ])('%s', async (_, file, path, message) => {
    const answer = await w.apply(file)
    expect(answer).toMatchObject({ status: 400, type: 'application/problem+json' })
    expect(answer.body).toMatchObject({ detail: expect.stringContaining('Nothing was done') })
    expect(answer.body.errors).toEqual([{ path, message: expect.stringContaining(message) }])
    expect(await written()).toEqual([])
  })

  test.each([
    ['PUT', '/fleets/Capital', 400],
    ['PUT', '/fleets/amd?plan=yes', 400],
    ['PUT', '/fleets/amd?dry=true', 400],
    ['GET', '/fleets?all=true', 400],
    ['DELETE', '/fleets/amd?force=true', 400],
    ['GET', '/fleets/amd', 404],
    ['GET', '/fleets/__proto__', 404],
    ['DELETE', '/fleets/amd', 404],
    ['POST', '/fleets', 405],
    ['PATCH', '/fleets/amd', 405],
  ])('%s %s is %i', async (method, path, status) => {
    const body = method === 'PUT' ? { type: 'fleet', ...vms } : undefined
    expect((await w.api.call(method, path, { body })).status).toBe(status)
    expect(await written()).toEqual([])
  })
})

test('the key of a viewer may look, and neither plan, apply nor delete', async () => {
  const key = 'berth_test_key_of_a_viewer_012345'
  await w.ctx.store.addApiKey({ hash: hashOf(key), name: 'eve', role: 'viewer', createdAt: 0 })
  await w.apply(vms)
  expect((await w.api.call('GET', '/fleets/amd', { key })).status).toBe(200)
  for (const [method, path] of [
    ['PUT', '/fleets/amd?plan=true'],
    ['PUT', '/fleets/amd'],
    ['DELETE', '/fleets/amd'],
  ] as const)
    expect((await w.api.call(method, path, { key, body: { type: 'fleet', ...vms } })).status).toBe(403)
})

test('a fleet is shown with what it is to be, its nodes, and what each costs', async () => {
  await w.apply({ ...vms, idle_duration: '1h' })
  await w.untilServing(2)
  const shown = await w.fleet()
  expect(shown).toMatchObject({
    name: 'amd',
    status: 'active',
    createdBy: 'alice',
    desired: 2,
    missing: 0,
    missingBecause: null,
    retryAt: null,
    pricePerHour: 3.98,
    spec: {
      nodes: { min: 2, target: 2, max: 2 },
      backends: ['hotaisle'],
      instanceTypes: ['vm-mi300x-1'],
      spotPolicy: 'on-demand',
      maxPrice: null,
      idleDuration: '1h',
    },
    nodes: [
      { n: 0, name: 'amd-0', status: 'idle', backend: 'hotaisle', pricePerHour: 1.99, holder: null },
      { n: 1, name: 'amd-1', status: 'idle', instanceType: 'vm-mi300x-1' },
    ],
  })
  expect((await w.api.call('GET', '/fleets')).body).toEqual({ fleets: [shown] })
  const [node] = await w.nodes()
  expect((await w.api.call('GET', `/instances/${node?.id}`)).body).toMatchObject({
    fleet: 'amd',
    name: 'amd-0',
  })
})

test('a plan where nothing can be had says so, and costs nothing', async () => {
  w.cloud.setStock([])
  expect((await w.plan(vms)).body.plan).toMatchObject({
    create: [
      { name: 'amd-0', offer: null },
      { name: 'amd-1', offer: null },
    ],
    pricePerHour: 0,
    minimumCharge: 0,
    messages: [expect.stringContaining('no offer that fits can be had now')],
  })
})
