import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { Rental } from '../../lib/backends/backend.ts'
import type { Operation } from '../../sandbox/clouds/oci/operations.ts'
import { countOf } from '../../sandbox/clouds/oci/simulated-oci.ts'
import { intend, type OciStage, rent, startOciStage } from './oci-stage.ts'

const minute = 60_000

let stage: OciStage
beforeEach(async () => {
  stage = await startOciStage()
})
afterEach(() => stage.cloud.stop())

const made: Operation[] = [
  'createCompartment',
  'createVcn',
  'createInternetGateway',
  'updateRouteTable',
  'createSubnet',
  'createNetworkSecurityGroup',
  'addNetworkSecurityGroupSecurityRules',
]
const counts = (operations: Operation[]) =>
  Object.fromEntries(operations.map((operation) => [operation, countOf(stage.cloud.requests, operation)]))
/** The next intent of a request, written now. */
const anew = (rental: Rental): Rental => ({
  ...rental,
  intent: { ...rental.intent, writtenAt: stage.clock.now() },
})
const bodyOf = (operation: Operation) =>
  stage.cloud.requests.find((request) => request.operation === operation)?.body

describe('the network of a region', () => {
  it('is made before the first machine, and found for all that come later, also by another process', async () => {
    await rent(stage, 'VM.GPU.A10.1', { mark: 'berth:a:i-1:1' })
    await rent(stage, 'VM.GPU.A10.1', { mark: 'berth:a:i-2:1' })
    await rent({ ...stage, backend: stage.another() }, 'VM.GPU.A10.1', { mark: 'berth:a:i-3:1' })
    expect(counts(made)).toEqual({
      ...Object.fromEntries(made.map((operation) => [operation, 1])),
      createCompartment: 0,
    })
    expect(bodyOf('createVcn')).toMatchObject({ cidrBlocks: ['10.0.0.0/16'] })
    expect(bodyOf('addNetworkSecurityGroupSecurityRules')).toMatchObject({
      securityRules: [
        { direction: 'INGRESS', sourceType: 'NETWORK_SECURITY_GROUP', protocol: 'all' },
        { direction: 'EGRESS', destinationType: 'NETWORK_SECURITY_GROUP', protocol: 'all' },
        { direction: 'INGRESS', source: '0.0.0.0/0', protocol: '6' },
      ],
    })
  })

  it('is made once by two that come at the same moment', async () => {
    const [left, right] = [stage.another(), stage.another()]
    const launch = async (backend: typeof left, mark: string) =>
      backend.launch(await intend({ ...stage, backend }, 'VM.GPU.A10.1', { mark }))
    await Promise.all([launch(left, 'berth:a:i-1:1'), launch(right, 'berth:a:i-2:1')])
    const vcns = new Set(
      stage.cloud.requests.flatMap(({ operation, retryToken }) =>
        operation === 'createVcn' ? [retryToken] : [],
      ),
    )
    expect(vcns.size).toBe(1)
    await rent(stage, 'VM.GPU.A10.1', { mark: 'berth:a:i-3:1' })
    expect(stage.cloud.ledger()).toHaveLength(3)
  })

  it('that was half made is finished', async () => {
    stage.cloud.faults.once('createSubnet', { kind: 'lost_answer' })
    const rental = await intend(stage, 'VM.GPU.A10.1')
    expect(await stage.backend.launch(rental)).toMatchObject({ outcome: 'rejected', code: 'throttled' })
    expect(countOf(stage.cloud.requests, 'launchInstance')).toBe(0)
    expect(await stage.backend.launch(rental)).toMatchObject({ outcome: 'launched' })
    expect(counts(['createVcn', 'createSubnet'])).toEqual({ createVcn: 1, createSubnet: 1 })
  })

  it('that is not ready yet is waited for', async () => {
    await stage.cloud.stop()
    stage = await startOciStage({ timings: { networkMs: 5000 } })
    const rental = await intend(stage, 'VM.GPU.A10.1')
    const tries: string[] = []
    for (let n = 0; n < 10; n++) {
      const outcome = await stage.backend.launch(anew(rental))
      tries.push(outcome.outcome === 'rejected' ? outcome.code : outcome.outcome)
      if (outcome.outcome === 'launched') break
      stage.clock.advance(5000)
    }
    expect(tries.at(-1)).toBe('launched')
    expect(new Set(tries.slice(0, -1))).toEqual(new Set(['throttled']))
    expect(stage.cloud.ledger()).toHaveLength(1)
  })

  it('leaves rules that somebody added', async () => {
    await rent(stage, 'VM.GPU.A10.1', { mark: 'berth:a:i-1:1' })
    await rent({ ...stage, backend: stage.another() }, 'VM.GPU.A10.1', { mark: 'berth:a:i-2:1' })
    expect(counts(['removeNetworkSecurityGroupSecurityRules'])).toEqual({
      removeNetworkSecurityGroupSecurityRules: 0,
    })
  })
})

describe('without a compartment in the settings', () => {
  beforeEach(() => {
    stage.backend = stage.another({ compartment_id: undefined })
  })

  it('there are offers, and nothing is made for them', async () => {
    const { offers, errors } = await stage.backend.offers({})
    expect(errors).toEqual([])
    expect(offers.some(({ availability }) => availability === 'available')).toBe(true)
    expect(counts(made)).toEqual(Object.fromEntries(made.map((operation) => [operation, 0])))
    expect(await stage.backend.owned()).toEqual({ complete: true, machines: [] })
  })

  it('one is made in the home region, and waited for, while nothing is rented', async () => {
    const rental = await intend(stage, 'VM.GPU.A10.1')
    const first = await stage.backend.launch(rental)
    expect(first).toMatchObject({
      outcome: 'rejected',
      code: 'throttled',
      message: expect.stringContaining('"berth" is being made'),
    })
    expect(await stage.another({ compartment_id: undefined }).launch(rental)).toMatchObject({
      code: 'throttled',
    })
    stage.clock.advance(3 * minute)
    expect(await stage.backend.launch(anew(rental))).toMatchObject({ outcome: 'launched' })
    expect(countOf(stage.cloud.requests, 'launchInstance')).toBe(1)
    expect((await stage.backend.owned()).machines).toHaveLength(1)
  })
})

describe('the image', () => {
  const imageOf = async (instanceType: string) => {
    await rent(stage, instanceType)
    const { backend, cloud } = stage
    const body = cloud.requests.findLast(({ operation }) => operation === 'launchInstance')?.body
    const { machines } = await backend.owned()
    return { body: JSON.stringify(body), machines }
  }
  const listingAsked = () =>
    stage.cloud.requests.filter(({ operation }) => operation === 'listListings').map(({ path }) => path)

  it.each([
    ['VM.GPU3.1', 'dstack-cuda-0.10'],
    ['VM.GPU.A10.1', 'dstack-cuda-0.14'],
    ['BM.GPU.H100.8', 'dstack-cuda-0.14'],
    ['BM.Standard.E4.128', 'dstack-0.14'],
  ])('of %s is that of %s', async (instanceType, listing) => {
    await imageOf(instanceType)
    expect(listingAsked()).toEqual([expect.stringContaining(`name=${listing}&`)])
    // The simulated machine has its GPUs only under the modules that drive them.
    stage.clock.advance(20 * minute)
    await stage.backend.owned()
    const [machine] = stage.machines.running()
    expect(machine?.hardware.gpus === null).toBe(instanceType === 'BM.Standard.E4.128')
  })

  it('is that of the one listing of exactly that name, its agreements accepted once', async () => {
    await rent(stage, 'VM.GPU.A10.1', { mark: 'berth:a:i-1:1' })
    await rent({ ...stage, backend: stage.another() }, 'VM.GPU.A10.1', { mark: 'berth:a:i-2:1' })
    expect(countOf(stage.cloud.requests, 'createAcceptedAgreement')).toBe(2)
  })

  it('that is not published is an error of the settings that says so, and nothing is rented', async () => {
    const backend = stage.another({ image_version: '9.9' })
    expect(await backend.launch(await intend({ ...stage, backend }, 'VM.GPU.A10.1'))).toMatchObject({
      outcome: 'rejected',
      code: 'invalid_settings',
      message: expect.stringMatching(/0 Marketplace listings with the name dstack-cuda-9\.9.*image_version/),
    })
    expect(stage.cloud.ledger()).toEqual([])
  })

  it('of which two have the name is an error that says so', async () => {
    const doubled: typeof fetch = async (url, init) => {
      const response = await fetch(url, init)
      if (!/\/listings\?/.test(String(url))) return response
      const rows = z.array(z.json()).parse(await response.json())
      return Response.json([...rows, ...rows])
    }
    const backend = stage.another({}, { fetch: doubled })
    expect(await backend.launch(await intend({ ...stage, backend }, 'VM.GPU.A10.1'))).toMatchObject({
      code: 'invalid_settings',
      message: expect.stringContaining('2 Marketplace listings with the name dstack-cuda-0.14'),
    })
    expect(stage.cloud.ledger()).toEqual([])
  })

  it('is found through pages of which the first is empty', async () => {
    stage.cloud.switches.emptyFirstPage = new Set([
      'listListings',
      'listAgreements',
      'listAcceptedAgreements',
    ])
    await rent(stage, 'VM.GPU.A10.1')
    expect(stage.cloud.ledger()).toHaveLength(1)
  })
})
