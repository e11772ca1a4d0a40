import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { MachineRef } from '../../lib/backends/backend.ts'
import { countOf } from '../../sandbox/clouds/hotaisle/simulated-hot-aisle.ts'
import { type HotAisleStage, rent, startHotAisleStage } from './hotaisle-stage.ts'

const minute = 60_000

let stage: HotAisleStage
beforeEach(async () => {
  stage = await startHotAisleStage()
})
afterEach(() => stage.cloud.stop())

const json = (body: unknown) => ({ kind: 'status', status: 200, body: JSON.stringify(body) }) as const

const releaseAndWait = async (ref: MachineRef) => {
  await stage.backend.release(ref, { force: true })
  stage.clock.advance(minute)
}

describe('the state of a virtual machine', () => {
  it('is starting, then running at its SSH access', async () => {
    const ref = await rent(stage, 'vm-mi300x-1')
    expect(await stage.backend.state(ref)).toEqual({ state: 'starting', progress: 'starting' })
    stage.clock.advance(minute)
    expect(await stage.backend.state(ref)).toEqual({
      state: 'running',
      address: { hostname: '127.0.0.1', port: 40_000, username: 'hotaisle' },
    })
  })

  it('is running at port 22 of its address where it has no SSH access', async () => {
    const ref = await rent(stage, 'vm-mi300x-1')
    stage.cloud.faults.once(
      'GET virtual_machines/{vm}',
      json({ name: ref.cloudId, ip_address: '23.183.40.7' }),
    )
    stage.cloud.faults.once('GET virtual_machines/{vm}/state', json({ state: 'running', host: 'h' }))
    expect(await stage.backend.state(ref)).toEqual({
      state: 'running',
      address: { hostname: '23.183.40.7', port: 22, username: 'hotaisle' },
    })
  })

  it('is failed when it has crashed', async () => {
    const ref = await rent(stage, 'vm-mi300x-1')
    stage.cloud.faults.once('GET virtual_machines/{vm}/state', json({ state: 'crashed', host: 'h' }))
    expect(await stage.backend.state(ref)).toMatchObject({ state: 'failed' })
  })

  it.each(['GET virtual_machines/{vm}', 'GET virtual_machines/{vm}/state'] as const)(
    'is unknown when %s fails',
    async (endpoint) => {
      const ref = await rent(stage, 'vm-mi300x-1')
      for (const fault of [{ kind: 'cut_before' }, { kind: 'status', status: 500 }, json([])] as const) {
        stage.cloud.faults.once(endpoint, fault)
        expect(await stage.backend.state(ref)).toMatchObject({ state: 'unknown' })
      }
    },
  )
})

describe('the state of bare metal', () => {
  it('goes through the words of its installation', async () => {
    const ref = await rent(stage, 'bm-mi300x-8')
    const seen = new Set<string>()
    for (let step = 0; step < 30; step += 1) {
      const state = await stage.backend.state(ref)
      seen.add(state.state === 'starting' ? state.progress : state.state)
      stage.clock.advance(minute / 2)
    }
    expect(await stage.backend.state(ref)).toMatchObject({ state: 'running', address: { port: 40_000 } })
    expect([...seen]).toEqual([
      'waiting for the installation to begin',
      'shutting_down',
      'ac_reset',
      'bios_reset',
      'booting_installer',
      'installing_os',
      'finalizing_os',
      'first_boot',
      'first_boot_tasks',
    ])
  })

  it.each([{ os_status: null }, {}, { os_status: 'odd' }])('is starting with %j', async (part) => {
    const ref = await rent(stage, 'bm-mi300x-8')
    const body = json({ name: ref.cloudId, description: ref.mark, ...part })
    stage.cloud.faults.once('GET bare_metal/{server}', body)
    expect(await stage.backend.state(ref)).toMatchObject({ state: 'starting' })
  })

  it('is starting without SSH access, since its own address is private', async () => {
    const ref = await rent(stage, 'bm-mi300x-8')
    const installed = { os_status: { os_install_status: 'installed' }, ip_address: '10.0.0.2' }
    const body = json({ name: ref.cloudId, description: ref.mark, ...installed })
    stage.cloud.faults.once('GET bare_metal/{server}', body)
    expect(await stage.backend.state(ref)).toMatchObject({
      state: 'starting',
      progress: expect.stringContaining('SSH'),
    })
  })

  it('is failed when its installation failed, and comes up after a repair', async () => {
    stage.cloud.faults.nextMachine({ installFails: 1 })
    const ref = await rent(stage, 'bm-mi300x-8')
    stage.clock.advance(15 * minute)
    expect(await stage.backend.state(ref)).toMatchObject({ state: 'failed' })
    expect(await stage.backend.repair(ref)).toMatchObject({ outcome: 'started' })
    expect(await stage.backend.state(ref)).toMatchObject({ state: 'starting' })
    stage.clock.advance(15 * minute)
    expect(await stage.backend.state(ref)).toMatchObject({ state: 'running' })
  })

  it('is unknown, and it is not given back, when its description was taken off', async () => {
    const ref = await rent(stage, 'bm-mi300x-8', 'berth-mark')
    stage.cloud.faults.always('GET bare_metal/{server}', json({ name: ref.cloudId }))
    const message = expect.stringContaining('"berth-mark"')
    expect(await stage.backend.state(ref)).toEqual({ state: 'unknown', message })
    expect(await stage.backend.release(ref, { force: true })).toMatchObject({ outcome: 'retry', message })
    expect(countOf(stage.cloud.requests, 'DELETE bare_metal/{server}')).toBe(0)
  })
})

describe('a repair', () => {
  it('is not to be had for virtual machines', async () => {
    expect(await stage.backend.repair(await rent(stage, 'vm-mi300x-1'))).toMatchObject({
      outcome: 'not_possible',
    })
  })

  it('does nothing to the machine of another rental', async () => {
    const ref = await rent(stage, 'bm-mi300x-8', 'berth-first')
    await releaseAndWait(ref)
    await rent(stage, 'bm-mi300x-8', 'berth-second')
    expect(await stage.backend.repair(ref)).toMatchObject({ outcome: 'not_possible' })
    expect(countOf(stage.cloud.requests, 'POST bare_metal/{server}/reinstall')).toBe(0)
  })
})

describe.each(['vm-mi300x-1', 'bm-mi300x-8'])('a name that came back (%s)', (instanceType) => {
  it('stands for another rental: ours is gone, and that one is not touched', async () => {
    const first = await rent(stage, instanceType, 'berth-first')
    await releaseAndWait(first)
    const second = await rent(stage, instanceType, 'berth-second')
    expect(second.cloudId).toBe(first.cloudId)
    expect(await stage.backend.state(first)).toEqual({ state: 'gone', interrupted: false })
    expect(await stage.backend.release(first, { force: true })).toEqual({ outcome: 'gone' })
    expect(stage.cloud.ledger().at(-1)).toMatchObject({ description: 'berth-second', endedAt: null })
  })
})

it('tells a VM of another rental by its description where no deployment_id is shown', async () => {
  const ref = await rent(stage, 'vm-mi300x-1', 'berth-mark')
  stage.cloud.faults.once('GET virtual_machines/{vm}', json({ name: ref.cloudId, description: 'somebody' }))
  expect(await stage.backend.state(ref)).toEqual({ state: 'gone', interrupted: false })
})

describe('giving back', () => {
  it('is accepted when it is cut off, since the reset goes on', async () => {
    await stage.cloud.stop()
    stage = await startHotAisleStage(
      { timings: { deleteAnswers: 'when_done' } },
      { timeouts: { deleteMs: 80 } },
    )
    const ref = await rent(stage, 'vm-mi300x-1')
    expect(await stage.backend.release(ref, { force: true })).toEqual({
      outcome: 'accepted',
      at: stage.clock.now(),
    })
    expect(await stage.backend.state(ref)).toMatchObject({ state: 'starting' })
    stage.clock.advance(minute)
    expect(await stage.backend.state(ref)).toMatchObject({ state: 'gone' })
  })

  it('needs no force after the minimum', async () => {
    const ref = await rent(stage, 'vm-mi300x-2')
    stage.clock.advance(60 * minute - 1)
    expect(await stage.backend.release(ref, { force: false })).toMatchObject({ outcome: 'too_early' })
    stage.clock.advance(1)
    expect(await stage.backend.release(ref, { force: false })).toEqual({
      outcome: 'accepted',
      at: stage.clock.now(),
    })
  })

  it.each([401, 403, 429, 500, 503])('is tried again after %i', async (status) => {
    const ref = await rent(stage, 'vm-mi300x-1')
    const headers = { 'retry-after': '7' }
    stage.cloud.faults.once('DELETE virtual_machines/{vm}', {
      kind: 'status',
      status,
      body: 'not now',
      headers,
    })
    expect(await stage.backend.release(ref, { force: true })).toEqual({
      outcome: 'retry',
      message: expect.stringContaining('not now'),
      retryAfterMs: 7000,
      // It may have been done.
      ...(status >= 500 && { at: stage.clock.now() }),
    })
  })

  it('is tried again when the connection broke before it was certain', async () => {
    const ref = await rent(stage, 'vm-mi300x-1')
    stage.cloud.faults.once('DELETE virtual_machines/{vm}', { kind: 'cut_before' })
    expect(await stage.backend.release(ref, { force: true })).toMatchObject({ outcome: 'retry' })
  })

  it('with force is not "too early" when it is refused', async () => {
    const ref = await rent(stage, 'vm-mi300x-1')
    stage.cloud.faults.once('DELETE virtual_machines/{vm}', { kind: 'status', status: 400 })
    expect(await stage.backend.release(ref, { force: true })).toMatchObject({ outcome: 'retry' })
  })

  it('sends force only when asked to', async () => {
    const ref = await rent(stage, 'bm-mi300x-8')
    await stage.backend.release(ref, { force: false })
    expect(stage.cloud.ledger()).toMatchObject([{ endedAt: null }])
  })

  it('finds that the machine went while it was asked', async () => {
    const ref = await rent(stage, 'vm-mi300x-1')
    stage.cloud.faults.once('DELETE virtual_machines/{vm}', { kind: 'status', status: 404 })
    expect(await stage.backend.release(ref, { force: true })).toEqual({ outcome: 'gone' })
  })
})

describe('a 404', () => {
  it.each([
    ['the key is bad', { kind: 'status', status: 401 }],
    ['the account does not answer', { kind: 'status', status: 500 }],
    ['the key no longer sees the team', json({ teams: null })],
  ] as const)('proves nothing while %s', async (_, fault) => {
    const ref = await rent(stage, 'vm-mi300x-1')
    stage.cloud.faults.always('GET virtual_machines/{vm}', { kind: 'status', status: 404 })
    stage.cloud.faults.always('GET user', fault)
    expect(await stage.backend.state(ref)).toMatchObject({ state: 'unknown' })
    expect(await stage.backend.release(ref, { force: false })).toMatchObject({ outcome: 'retry' })
  })
})

it('does not take the 404 of a DELETE for more than it is while the key is not known to work', async () => {
  const ref = await rent(stage, 'vm-mi300x-1')
  stage.cloud.faults.once('DELETE virtual_machines/{vm}', { kind: 'status', status: 404 })
  stage.cloud.faults.once('GET user', { kind: 'status', status: 401 })
  expect(await stage.backend.release(ref, { force: true })).toMatchObject({ outcome: 'retry' })
})

describe('the list of what is owned', () => {
  it('has both kinds, also where bare metal is no longer enabled', async () => {
    await rent(stage, 'vm-mi300x-2', 'berth-vm')
    await rent(stage, 'bm-mi300x-8', 'berth-bm')
    expect(await stage.another({ bare_metal: false }).owned()).toEqual({
      complete: true,
      machines: [
        {
          region: 'us-michigan-1',
          instanceType: 'vm-mi300x-2',
          cloudId: 'enc1-gpuvm001',
          rentalId: stage.cloud.ledger()[0]?.deploymentId,
          description: 'berth-vm',
        },
        {
          region: 'us-michigan-1',
          instanceType: 'bm-mi300x-8',
          cloudId: 'enc1-gpu001',
          description: 'berth-bm',
        },
      ],
    })
  })

  it.each(['GET virtual_machines', 'GET bare_metal'] as const)(
    'is incomplete without %s',
    async (endpoint) => {
      await rent(stage, 'vm-mi300x-1')
      for (const fault of [
        { kind: 'cut_before' },
        { kind: 'status', status: 429 },
        json([{}]),
        json({}),
      ] as const) {
        stage.cloud.faults.once(endpoint, fault)
        const listing = await stage.backend.owned()
        expect(listing).toMatchObject({ complete: false, message: expect.any(String) })
      }
    },
  )
})

it('gives bare metal an hour to come up and virtual machines ten minutes', () => {
  expect(stage.backend.bootDeadlineMs('bm-mi300x-8')).toBe(60 * minute)
  expect(stage.backend.bootDeadlineMs('vm-mi300x-1')).toBe(10 * minute)
})
