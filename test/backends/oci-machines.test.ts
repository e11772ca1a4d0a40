import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { MachineRef } from '../../lib/backends/backend.ts'
import { countOf } from '../../sandbox/clouds/oci/simulated-oci.ts'
import { type OciStage, rent, startOciStage } from './oci-stage.ts'

const minute = 60_000
const shape = 'VM.GPU.A10.1'

let stage: OciStage
beforeEach(async () => {
  stage = await startOciStage()
})
afterEach(() => stage.cloud.stop())

const state = (ref: MachineRef) => stage.backend.state(ref)
const running = {
  state: 'running',
  address: { hostname: expect.any(String), port: 10_022, username: 'ubuntu' },
}

describe('the address of a machine', () => {
  it('is that of its primary network interface, among several', async () => {
    stage.cloud.faults.nextMachine({ secondaryVnics: 2 })
    const ref = await rent(stage, shape)
    stage.clock.advance(2 * minute)
    expect(await state(ref)).toEqual(running)
  })

  it('is waited for while the interface is missing, and while it is being attached', async () => {
    stage.cloud.faults.nextMachine({ vnicDelayMs: 10 * minute })
    const ref = await rent(stage, shape)
    stage.clock.advance(2 * minute)
    const missing = await state(ref)
    stage.clock.advance(6 * minute)
    const attaching = await state(ref)
    const waiting = { state: 'starting', progress: 'waiting for its network interface' }
    expect([missing, attaching]).toEqual([waiting, waiting])
    stage.clock.advance(5 * minute)
    expect(await state(ref)).toEqual(running)
  })

  it('is waited for while it has no public one', async () => {
    stage.cloud.faults.nextMachine({ publicIp: false })
    const ref = await rent(stage, shape)
    stage.clock.advance(2 * minute)
    expect(await state(ref)).toEqual({ state: 'starting', progress: 'waiting for a public address' })
  })

  it.each(['listVnicAttachments', 'getVnic'] as const)('is unknown while %s fails', async (operation) => {
    const ref = await rent(stage, shape)
    stage.clock.advance(2 * minute)
    stage.cloud.faults.always(operation, { kind: 'status', status: 500 })
    expect(await state(ref)).toMatchObject({ state: 'unknown' })
  })
})

describe('a machine that ends', () => {
  it('because OCI took the preemptible host back was interrupted', async () => {
    const ref = await rent(stage, 'VM.GPU3.1', { spot: true })
    stage.clock.advance(5 * minute)
    await stage.cloud.preempt(ref.cloudId)
    expect(await state(ref)).toEqual({ state: 'stopping' })
    stage.clock.advance(2 * minute)
    expect(await state(ref)).toEqual({ state: 'gone', interrupted: true })
  })

  it('because Berth gave it back was not, whoever asks', async () => {
    const ref = await rent(stage, 'VM.GPU3.1', { spot: true })
    stage.clock.advance(5 * minute)
    await stage.backend.release(ref, { force: false })
    stage.clock.advance(2 * minute)
    expect(await stage.another().state(ref)).toEqual({ state: 'gone', interrupted: false })
  })

  it('before it ever ran says why', async () => {
    stage.cloud.faults.nextMachine({
      failure: { afterMs: minute, code: 'LimitExceeded', message: 'no more' },
    })
    const ref = await rent(stage, shape)
    stage.clock.advance(minute)
    expect(await state(ref)).toEqual({
      state: 'gone',
      interrupted: false,
      neverRan: 'LimitExceeded: no more',
    })
  })

  it('is gone by then, also if why it ended may not be read', async () => {
    const ref = await rent(stage, shape)
    await stage.backend.release(ref, { force: true })
    stage.clock.advance(2 * minute)
    stage.cloud.faults.always('listWorkRequests', { kind: 'status', status: 404 })
    expect(await state(ref)).toEqual({ state: 'gone', interrupted: false })
  })

  it('is gone, too, when it is listed no more', async () => {
    const ref = await rent(stage, shape)
    await stage.backend.release(ref, { force: true })
    stage.clock.advance(120 * minute)
    expect(await state(ref)).toEqual({ state: 'gone', interrupted: false })
    expect(await stage.backend.release(ref, { force: true })).toEqual({ outcome: 'gone' })
    expect(await stage.backend.owned()).toEqual({ complete: true, machines: [] })
  })
})

describe('a 404', () => {
  it('of credentials that see nothing proves nothing', async () => {
    const ref = await rent(stage, shape)
    stage.cloud.switches.credentials = 'all_404'
    expect(await state(ref)).toMatchObject({
      state: 'unknown',
      message: expect.stringContaining('proves nothing'),
    })
    expect(await stage.backend.release(ref, { force: true })).toMatchObject({ outcome: 'retry' })
    stage.cloud.switches.credentials = 'good'
    expect(await state(ref)).toMatchObject({ state: 'starting' })
  })

  it('after the settings were changed to another compartment is held against the old one', async () => {
    const ref = await rent(stage, shape)
    const backend = stage.another({ compartment_id: stage.cloud.otherTenancy.compartmentId })
    stage.cloud.faults.once('getInstance', { kind: 'status', status: 404, code: 'NotAuthorizedOrNotFound' })
    expect(await backend.state(ref)).toMatchObject({ state: 'starting' })
  })

  it('of one call proves nothing against the list', async () => {
    const ref = await rent(stage, shape)
    stage.cloud.faults.once('getInstance', { kind: 'status', status: 404, code: 'NotAuthorizedOrNotFound' })
    expect(await state(ref)).toMatchObject({ state: 'starting' })
  })

  it('to the termination of a machine that is there leads to another try', async () => {
    const ref = await rent(stage, shape)
    stage.cloud.faults.once('terminateInstance', {
      kind: 'status',
      status: 404,
      code: 'NotAuthorizedOrNotFound',
    })
    expect(await stage.backend.release(ref, { force: true })).toMatchObject({ outcome: 'retry' })
    expect(await stage.backend.release(ref, { force: true })).toEqual({ outcome: 'accepted' })
  })
})

describe('giving a machine back', () => {
  it('takes its disks with it', async () => {
    const ref = await rent(stage, shape)
    await stage.backend.release(ref, { force: false })
    const request = stage.cloud.requests.find(({ operation }) => operation === 'terminateInstance')
    expect(request?.path).toContain('preserveBootVolume=false&preserveDataVolumesCreatedAtLaunch=false')
  })

  it.each([409, 429, 500, 503])('is tried again after %i', async (status) => {
    const ref = await rent(stage, shape)
    stage.cloud.faults.once('terminateInstance', { kind: 'status', status })
    expect(await stage.backend.release(ref, { force: true })).toMatchObject({ outcome: 'retry' })
    expect(await stage.backend.release(ref, { force: true })).toEqual({ outcome: 'accepted' })
  })

  it('twice asks OCI once', async () => {
    const ref = await rent(stage, shape)
    await stage.backend.release(ref, { force: true })
    expect(await stage.backend.release(ref, { force: true })).toEqual({ outcome: 'accepted' })
    expect(countOf(stage.cloud.requests, 'terminateInstance')).toBe(1)
  })

  it('does not fail over a tag that can not be set', async () => {
    const ref = await rent(stage, 'VM.GPU3.1', { spot: true })
    stage.cloud.faults.always('updateInstance', { kind: 'status', status: 403 })
    expect(await stage.backend.release(ref, { force: true })).toEqual({ outcome: 'accepted' })
  })
})

describe('what is owned', () => {
  it('is listed in every region, with its marks, whatever regions the settings allow now', async () => {
    const backend = stage.another({ regions: ['uk-london-1'] })
    await rent({ ...stage, backend }, shape)
    expect(await stage.backend.owned()).toMatchObject({
      complete: true,
      machines: [
        {
          region: 'uk-london-1',
          instanceType: shape,
          mark: 'berth:0a0b0c0d:i-000000000001:1',
          createdAt: stage.clock.now(),
        },
      ],
    })
  })

  it('is not complete when one region does not answer', async () => {
    await rent(stage, shape)
    stage.cloud.faults.once('listInstances', { kind: 'status', status: 500 })
    const { complete, message } = await stage.backend.owned()
    expect(complete).toBe(false)
    expect(message).toContain('500')
  })
})

it('a machine is not installed anew', async () => {
  expect(await stage.backend.repair(await rent(stage, shape))).toMatchObject({ outcome: 'not_possible' })
})

it.each([
  ['VM.GPU.A10.1', 10],
  ['BM.GPU.H100.8', 20],
])('%s has %i minutes to boot', (instanceType, minutes) => {
  expect(stage.backend.bootDeadlineMs(instanceType)).toBe(minutes * minute)
})
