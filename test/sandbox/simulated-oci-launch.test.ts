import type { models } from 'oci-core'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { countOf } from '../../sandbox/clouds/oci/simulated-oci.ts'
import { deliver, signed } from './oci-signed-request.ts'
import {
  acceptImage,
  type Clients,
  domains,
  frankfurt,
  minute,
  type OciStage,
  prepareOnce,
  refusalOf,
  second,
  setUpOci,
} from './oci-stage.ts'

const outOfCapacity = { status: 500, code: 'InternalError', message: 'Out of host capacity.' }
const notFound = { status: 404, code: 'NotAuthorizedOrNotFound' }
const a10 = { region: frankfurt, shape: 'VM.GPU.A10.1', limit: 3, onDemand: 1, preemptible: 1 }
const stock = [
  { ...a10, domain: 1 },
  { ...a10, domain: 2, limit: 1, onDemand: 3 },
  { ...a10, domain: 1, shape: 'BM.GPU.GB200.4' },
  { ...a10, domain: 1, shape: 'BM.GPU.H100.8' },
]

let stage: OciStage
let clients: Clients
let details: models.LaunchInstanceDetails

let saved: string

beforeAll(async () => {
  const prepared = await prepareOnce({ stock })
  details = prepared.details
  saved = prepared.saved
})
beforeEach(async () => {
  stage = await setUpOci({ saved })
  clients = stage.clients()
})
afterEach(() => stage.tearDown())

const launch = async (changes: Partial<models.LaunchInstanceDetails> = {}, opcRetryToken?: string) => {
  const launchInstanceDetails = { ...details, ...changes }
  const answer = await clients.compute.launchInstance({
    launchInstanceDetails,
    ...(opcRetryToken === undefined ? {} : { opcRetryToken }),
  })
  return { ...answer.instance, workRequestId: answer.opcWorkRequestId }
}
const terminate = (instanceId: string) => clients.compute.terminateInstance({ instanceId })
const domain2 = { availabilityDomain: domains[1] ?? '' }
const preemptible = {
  preemptibleInstanceConfig: { preemptionAction: { type: 'TERMINATE', preserveBootVolume: false } },
}

describe('a launch', () => {
  it('makes what was asked for', async () => {
    const instance = await launch({
      instanceOptions: { areLegacyImdsEndpointsDisabled: true },
      metadata: { user_data: Buffer.from('#!/bin/sh\n').toString('base64') },
    })
    expect(instance).toMatchObject({
      lifecycleState: 'PROVISIONING',
      availabilityDomain: domains[0],
      displayName: 'machine',
      shape: 'VM.GPU.A10.1',
      freeformTags: { owner: 'berth' },
      instanceOptions: { areLegacyImdsEndpointsDisabled: true },
      sourceDetails: { bootVolumeSizeInGBs: 100 },
      region: frankfurt,
      timeCreated: '2030-01-01T00:00:00.000Z',
    })
  })

  it('is found by its name, its state and its domain', async () => {
    const { id } = await launch()
    const { compartmentId } = stage.cloud
    const list = async (filter: object) =>
      (await clients.compute.listInstances({ compartmentId, ...filter })).items.map((row) => row.id)
    expect(await list({})).toEqual([id])
    expect(await list({ displayName: 'machine', lifecycleState: 'PROVISIONING' })).toEqual([id])
    expect(await list({ displayName: 'other' })).toEqual([])
    expect(await list({ lifecycleState: 'RUNNING' })).toEqual([])
    expect(await list(domain2)).toEqual([])
    expect(await list({ compartmentId: stage.cloud.otherTenancy.compartmentId })).toEqual([])
  })

  it.each<[string, Partial<models.LaunchInstanceDetails>, object]>([
    ['in no domain', { availabilityDomain: 'AD-1' }, { status: 400, code: 'InvalidParameter' }],
    ['in a domain as another tenancy calls it', { availabilityDomain: 'qXyz:EU-FRANKFURT-1-AD-1' }, notFound],
    ['in another tenancy', { compartmentId: 'ocid1.tenancy.oc1..aaaapartner' }, notFound],
    ['of no shape', { shape: 'VM.GPU.A11.1' }, { status: 400, code: 'InvalidParameter' }],
    ['on an arm host', { shape: 'BM.GPU.GB200.4' }, { status: 400, code: 'InvalidParameter' }],
    ['preemptible where that is not sold', { shape: 'BM.GPU.H100.8', ...preemptible }, { status: 400 }],
    ['without a subnet', { createVnicDetails: {} }, { status: 400, code: 'InvalidParameter' }],
    ['in a subnet that is not there', { createVnicDetails: { subnetId: 'x' } }, notFound],
    ['with a tag that has a space', { freeformTags: { 'a b': '' } }, { status: 400 }],
    ['with a tag that is too long', { freeformTags: { a: 'x'.repeat(257) } }, { status: 400 }],
    ['with a script that is no base64', { metadata: { user_data: '#!/bin/sh' } }, { status: 400 }],
    ['with too much metadata', { metadata: { user_data: 'A'.repeat(32_000) } }, { status: 400 }],
  ])('%s is refused, and nothing is there', async (_, changes, refusal) => {
    expect(await refusalOf(launch(changes))).toMatchObject(refusal)
    expect(stage.cloud.ledger()).toEqual([])
  })

  it.each([49, 32_769, 100.5])('with a boot volume of %d GB is refused', async (bootVolumeSizeInGBs) => {
    const sourceDetails = { ...details.sourceDetails, sourceType: 'image', bootVolumeSizeInGBs }
    expect(await refusalOf(launch({ sourceDetails }))).toMatchObject({
      status: 400,
      code: 'InvalidParameter',
    })
  })

  it('of an image that is not there is refused', async () => {
    const sourceDetails = { sourceType: 'image', imageId: 'ocid1.image.oc1..x' }
    expect(await refusalOf(launch({ sourceDetails }))).toMatchObject(notFound)
  })

  it('of an image whose agreements its compartment did not accept is refused', async () => {
    const { compartmentId } = stage.cloud
    const imageId = await acceptImage(clients.marketplace, compartmentId, 'dstack-cuda-0.10', 1)
    const sourceDetails = { sourceType: 'image', imageId }
    expect(await refusalOf(launch({ sourceDetails }))).toMatchObject(notFound)
    await acceptImage(clients.marketplace, compartmentId, 'dstack-cuda-0.10')
    expect((await launch({ sourceDetails })).imageId).toBe(imageId)
    expect((await clients.compute.getImage({ imageId })).image.displayName).toBe('dstack-cuda-0.10')
  })

  it('works in the compartment of another tenancy, by that one’s names', async () => {
    const { compartmentId } = stage.cloud.otherTenancy
    const there = (await stage.prepare(compartmentId)).details
    const availabilityDomain = domains[0]?.replace('kIdk', 'qXyz') ?? ''
    expect(await refusalOf(launch(there))).toMatchObject(notFound)
    expect((await launch({ ...there, availabilityDomain })).compartmentId).toBe(compartmentId)
  })
})

describe('a retry token', () => {
  it('makes one instance, however often it is sent', async () => {
    const first = await launch({}, 'token')
    const again = await launch({}, 'token')
    expect(again.id).toBe(first.id)
    expect(stage.cloud.ledger()).toHaveLength(1)
    expect(countOf(stage.cloud.requests, 'launchInstance')).toBe(2)
    expect(stage.cloud.requests.at(-1)).toMatchObject({ retryToken: 'token', region: frankfurt })
  })

  it('is refused for another request', async () => {
    await launch({}, 'token')
    expect(await refusalOf(launch({ displayName: 'other' }, 'token'))).toMatchObject({
      status: 409,
      code: 'InvalidatedRetryToken',
    })
  })

  it('is forgotten after a day', async () => {
    const { id } = await launch({}, 'token')
    await terminate(id)
    stage.clock.advance(24 * 60 * minute)
    expect((await launch({}, 'token')).id).not.toBe(id)
  })

  it('is worth nothing when its instance is no longer shown', async () => {
    const { id } = await launch({}, 'token')
    await terminate(id)
    stage.clock.advance(62 * minute)
    expect(await refusalOf(launch({}, 'token'))).toMatchObject({ status: 409, code: 'InvalidatedRetryToken' })
  })

  it('of a launch that was refused is free', async () => {
    const { id } = await launch({})
    expect(await refusalOf(launch({}, 'token'))).toMatchObject(outOfCapacity)
    await terminate(id)
    stage.clock.advance(minute)
    expect((await launch({}, 'token')).id).not.toBe(id)
  })

  it('is known after the cloud was started again', async () => {
    const { id } = await launch({}, 'token')
    await stage.restart()
    clients = stage.clients()
    expect((await launch({}, 'token')).id).toBe(id)
  })

  it('makes one network too', async () => {
    const { compartmentId } = stage.cloud
    const createVcnDetails = { compartmentId, cidrBlocks: ['10.1.0.0/16'] }
    const make = () => clients.network.createVcn({ createVcnDetails, opcRetryToken: 'token' })
    expect((await make()).vcn.id).toBe((await make()).vcn.id)
  })
})

describe('room', () => {
  it('is what a domain has of a shape, until machines are TERMINATED', async () => {
    const { id } = await launch()
    expect(await refusalOf(launch())).toMatchObject(outOfCapacity)
    await terminate(id)
    expect(await refusalOf(launch())).toMatchObject(outOfCapacity)
    stage.clock.advance(minute)
    await launch()
  })

  it('is not the same for preemptible machines', async () => {
    await launch(preemptible)
    expect(await refusalOf(launch(preemptible))).toMatchObject(outOfCapacity)
    expect((await launch()).preemptibleInstanceConfig).toBeFalsy()
  })

  it('ends with the service limits too', async () => {
    await launch(domain2)
    expect(await refusalOf(launch(domain2))).toMatchObject({ status: 400, code: 'LimitExceeded' })
  })

  it('is nowhere where a shape is not listed', async () => {
    const elsewhere = { availabilityDomain: domains[2] ?? '' }
    expect(await refusalOf(launch(elsewhere))).toMatchObject({ status: 400, code: 'LimitExceeded' })
  })

  it('can be changed', async () => {
    stage.cloud.setStock(stage.cloud.stock().map((row) => ({ ...row, onDemand: 0 })))
    expect(await refusalOf(launch())).toMatchObject(outOfCapacity)
  })
})

describe('a launch that fails after it was accepted', () => {
  const workRequest = async (id: string, path = '') => {
    const asked = { service: 'compute', path: `/20160918/workRequests/${id}${path}` }
    return (await deliver(await signed(stage.cloud, asked))).body
  }

  it('is TERMINATED by itself, and its work request says why', async () => {
    const failure = { afterMs: 20 * second, code: 'LimitExceeded', message: 'gpu-a10-count is exceeded' }
    stage.cloud.faults.nextMachine({ failure })
    const { id, workRequestId } = await launch()
    expect(await workRequest(workRequestId)).toMatchObject({ status: 'IN_PROGRESS' })
    expect(await workRequest(workRequestId, '/errors')).toEqual([])
    stage.clock.advance(20 * second)
    const { instance } = await clients.compute.getInstance({ instanceId: id })
    expect(instance.lifecycleState).toBe('TERMINATED')
    expect(await workRequest(workRequestId)).toMatchObject({
      status: 'FAILED',
      resources: [{ identifier: id }],
    })
    expect(await workRequest(workRequestId, '/errors')).toMatchObject([
      { code: 'LimitExceeded', message: 'gpu-a10-count is exceeded' },
    ])
    expect(stage.machines.started).toEqual([])
    expect(stage.cloud.ledger()[0]?.chargedCents(stage.clock.now())).toBe(0)
  })

  it('leaves its room to the next', async () => {
    const failure = { afterMs: 20 * second, code: 'LimitExceeded', message: '' }
    stage.cloud.faults.nextMachine({ failure })
    await launch()
    expect(await refusalOf(launch())).toMatchObject(outOfCapacity)
    stage.clock.advance(20 * second)
    await launch()
  })

  it('is one of those whose work requests succeed otherwise', async () => {
    const { id, workRequestId } = await launch()
    stage.clock.advance(minute)
    expect(await workRequest(workRequestId)).toMatchObject({ status: 'SUCCEEDED' })
    const path = `/20160918/workRequests?compartmentId=${stage.cloud.compartmentId}&resourceId=${id}`
    const list = await deliver(await signed(stage.cloud, { service: 'compute', path }))
    expect(list.body).toMatchObject([{ id: workRequestId }])
  })
})
