import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Rental } from '../../lib/backends/backend.ts'
import type { Fault } from '../../sandbox/clouds/oci/faults.ts'
import { countOf } from '../../sandbox/clouds/oci/simulated-oci.ts'
import { sshPublicKey } from './hotaisle-stage.ts'
import { domain, frankfurt, intend, type OciStage, rent, startOciStage } from './oci-stage.ts'

const minute = 60_000
const shape = 'VM.GPU.A10.1'

let stage: OciStage
beforeEach(async () => {
  stage = await startOciStage()
})
afterEach(() => stage.cloud.stop())

const stock = (changes: object) => [
  { region: frankfurt, domain: 1, shape, limit: 2, onDemand: 2, preemptible: 2, ...changes },
]
const launches = () => stage.cloud.requests.filter(({ operation }) => operation === 'launchInstance')

/** A launch that ends by this fault. */
const launchWith = async (fault: Fault) => {
  const rental = await intend(stage, shape)
  stage.cloud.faults.once('launchInstance', fault)
  return { rental, outcome: await stage.backend.launch(rental) }
}

describe('a launch', () => {
  it('carries its marks, the boot script, and what is asked for', async () => {
    await rent(stage, shape)
    expect(launches()).toMatchObject([
      {
        retryToken: expect.stringMatching(/^[0-9a-f]{64}$/),
        body: {
          availabilityDomain: domain(1),
          compartmentId: stage.cloud.compartmentId,
          shape,
          displayName: 'berth:0a0b0c0d:i-000000000001:1',
          freeformTags: {
            berth: 'berth:0a0b0c0d:i-000000000001:1',
            'berth-owner': '0a0b0c0d',
            'berth-instance': 'i-000000000001',
          },
          sourceDetails: { sourceType: 'image', bootVolumeSizeInGBs: 100 },
          instanceOptions: { areLegacyImdsEndpointsDisabled: true },
          metadata: {
            ssh_authorized_keys: sshPublicKey,
            user_data: Buffer.from('#!/bin/sh\necho started\n').toString('base64'),
          },
        },
      },
    ])
    expect(launches()[0]?.body).not.toHaveProperty('preemptibleInstanceConfig')
  })

  it('of a preemptible machine says so', async () => {
    await rent(stage, 'VM.GPU3.1', { spot: true })
    expect(launches()).toMatchObject([
      {
        body: {
          preemptibleInstanceConfig: { preemptionAction: { type: 'TERMINATE', preserveBootVolume: false } },
        },
      },
    ])
    expect(stage.cloud.ledger()).toMatchObject([{ preemptible: true }])
  })

  it('that is sent again for the same intent is the same machine', async () => {
    const rental = await intend(stage, shape)
    const first = await stage.backend.launch(rental)
    expect(await stage.another().launch(rental)).toEqual(first)
    expect(stage.cloud.ledger()).toHaveLength(1)
  })

  it('has another token in another domain', async () => {
    await rent(stage, shape, { zone: domain(1) })
    await rent(stage, shape, { zone: domain(2) })
    const [first, second] = launches()
    expect(first?.retryToken).not.toBe(second?.retryToken)
  })
})

describe('a launch is refused', () => {
  it('for want of hosts by one call, though that comes as a fault of the server', async () => {
    const rental = await intend(stage, shape)
    stage.cloud.setStock(stock({ onDemand: 0 }))
    expect(await stage.backend.launch(rental)).toMatchObject({
      outcome: 'rejected',
      code: 'no_capacity',
      message: expect.stringMatching(/Out of host capacity.*Nothing was rented/),
    })
    expect(launches()).toHaveLength(1)
  })

  it('for want of preemptible hosts, while the others are there', async () => {
    const spot = await intend(stage, 'VM.GPU3.1', { spot: true })
    stage.cloud.setStock(stock({ shape: 'VM.GPU3.1', preemptible: 0 }))
    expect(await stage.backend.launch(spot)).toMatchObject({ outcome: 'rejected', code: 'no_capacity' })
    await rent(stage, 'VM.GPU3.1', { mark: 'berth:a:i-2:1' })
    expect(stage.cloud.ledger()).toMatchObject([{ preemptible: false }])
  })

  it('for want of quota', async () => {
    const rental = await intend(stage, shape)
    stage.cloud.setStock(stock({ limit: 0 }))
    expect(await stage.backend.launch(rental)).toMatchObject({ outcome: 'rejected', code: 'no_quota' })
  })

  it('for a domain that is none, which is a matter of the settings', async () => {
    const rental = await intend(stage, shape, { zone: 'kIdk:MARS-AD-1' })
    expect(await stage.backend.launch(rental)).toMatchObject({
      outcome: 'rejected',
      code: 'invalid_settings',
    })
  })

  it.each([
    [400, 'QuotaExceeded', 'no_quota'],
    [400, 'InvalidParameter', 'invalid_settings'],
    [401, 'NotAuthenticated', 'bad_credentials'],
    [403, 'NotAllowed', 'invalid_settings'],
    [404, 'NotAuthorizedOrNotFound', 'throttled'],
    [409, 'IncorrectState', 'throttled'],
    [429, 'TooManyRequests', 'throttled'],
  ])('by %i %s as %s', async (status, code, expected) => {
    const { outcome } = await launchWith({ kind: 'status', status, code })
    expect(outcome).toMatchObject({ outcome: 'rejected', code: expected })
    expect(launches()).toHaveLength(1)
    expect(stage.cloud.ledger()).toEqual([])
  })

  it('with the time after which to ask again, where OCI says one', async () => {
    const headers = { 'retry-after': '7' }
    const { outcome } = await launchWith({ kind: 'status', status: 429, code: 'TooManyRequests', headers })
    expect(outcome).toMatchObject({ code: 'throttled', retryAfterMs: 7000 })
  })

  it('and its ground is looked at anew after a 404: somebody may have deleted it', async () => {
    const { rental } = await launchWith({ kind: 'status', status: 404, code: 'NotAuthorizedOrNotFound' })
    const before = countOf(stage.cloud.requests, 'listVcns')
    expect(await stage.backend.launch(rental)).toMatchObject({ outcome: 'launched' })
    expect(countOf(stage.cloud.requests, 'listVcns')).toBe(before + 1)
  })

  it('and its ground is looked at anew, too, when something of it is no longer right', async () => {
    await launchWith({ kind: 'status', status: 400, code: 'InvalidParameter' })
    const before = countOf(stage.cloud.requests, 'listListings')
    expect(await stage.backend.launch(await intend(stage, shape))).toMatchObject({ outcome: 'launched' })
    expect(countOf(stage.cloud.requests, 'listListings')).toBe(before + 1)
  })

  it('when it never left', async () => {
    const other = await startOciStage()
    await other.cloud.stop()
    const nowhere = other.cloud.endpoint.replace(/\{.*$/, '')
    const send: typeof fetch = (url, init) => fetch(String(url).endsWith('/instances') ? nowhere : url, init)
    const backend = stage.another({}, { fetch: send })
    const rental = await intend({ ...stage, backend }, shape)
    expect(await backend.launch(rental)).toMatchObject({ outcome: 'rejected', code: 'throttled' })
  })
})

describe('a launch is unknown, and the one machine is adopted', () => {
  it.each<[string, Fault]>([
    ['after a plain 500', { kind: 'done_but_500' }],
    ['when the connection was cut', { kind: 'lost_answer' }],
  ])('%s', async (_, fault) => {
    const { rental, outcome } = await launchWith(fault)
    expect(outcome).toMatchObject({ outcome: 'unknown' })
    const found = await stage.another().find(rental)
    const [entry] = stage.cloud.ledger()
    expect(found).toMatchObject({ outcome: 'found', machine: { cloudId: entry?.instanceId } })
    expect(stage.cloud.ledger()).toHaveLength(1)
  })

  it('when nobody waited for the answer', async () => {
    const { rental, outcome } = await launchWith({ kind: 'delay', ms: 2500 })
    expect(outcome).toMatchObject({
      outcome: 'unknown',
      message: expect.stringContaining('no answer within 2 s'),
    })
    await expect.poll(async () => (await stage.backend.find(rental)).outcome).toBe('found')
    expect(stage.cloud.ledger()).toHaveLength(1)
  })

  it.each<[string, Fault]>([
    ['a conflict of retry tokens', { kind: 'status', status: 409, code: 'InvalidatedRetryToken' }],
    ['an answer that is none', { kind: 'status', status: 200 }],
    ['a gateway', { kind: 'status', status: 502 }],
  ])('or nothing came of it: %s', async (_, fault) => {
    const { rental, outcome } = await launchWith(fault)
    expect(outcome).toMatchObject({ outcome: 'unknown' })
    expect(await stage.backend.find(rental)).toMatchObject({ outcome: 'unclear' })
    stage.clock.advance(2 * minute - 1)
    expect(await stage.backend.find(rental)).toMatchObject({ outcome: 'unclear' })
    stage.clock.advance(1)
    expect(await stage.backend.find(rental)).toEqual({ outcome: 'absent' })
  })
})

describe('looking for what came of a launch', () => {
  const lost = async (): Promise<Rental> => {
    const { rental } = await launchWith({ kind: 'lost_answer' })
    return rental
  }

  it('goes on past an empty page', async () => {
    const rental = await lost()
    stage.cloud.switches.emptyFirstPage = new Set(['listInstances'])
    stage.cloud.switches.pageSize = { listInstances: 1 }
    expect(await stage.backend.find(rental)).toMatchObject({ outcome: 'found' })
  })

  it('finds nothing of one that was accepted and failed, and says why', async () => {
    stage.cloud.faults.nextMachine({
      failure: { afterMs: minute, code: 'LimitExceeded', message: 'gpu-a10-count' },
    })
    const rental = await lost()
    stage.clock.advance(minute)
    expect(await stage.backend.find(rental)).toEqual({
      outcome: 'absent',
      message: expect.stringContaining('LimitExceeded: gpu-a10-count'),
    })
  })

  it('is not finished while it is not known why one ended', async () => {
    stage.cloud.faults.nextMachine({ failure: { afterMs: minute, code: 'LimitExceeded', message: 'x' } })
    const rental = await lost()
    stage.clock.advance(minute)
    stage.cloud.faults.always('listWorkRequests', { kind: 'status', status: 500 })
    expect(await stage.backend.find(rental)).toMatchObject({ outcome: 'unclear' })
  })

  it('adopts one that ran and ended, so that its cost is known', async () => {
    const rental = await lost()
    stage.clock.advance(5 * minute)
    const [entry] = stage.cloud.ledger()
    await stage.cloud.preempt(entry?.instanceId ?? '')
    stage.clock.advance(5 * minute)
    expect(await stage.backend.find(rental)).toMatchObject({ outcome: 'found' })
  })

  it('finds nothing while the credentials see nothing', async () => {
    const rental = await lost()
    stage.clock.advance(10 * minute)
    stage.cloud.switches.credentials = 'all_404'
    expect(await stage.backend.find(rental)).toMatchObject({ outcome: 'unclear' })
  })

  it('takes no machine of another mark', async () => {
    await rent(stage, shape, { mark: 'berth:a:i-2:1' })
    const { rental } = await launchWith({ kind: 'cut_before' })
    stage.clock.advance(10 * minute)
    expect(await stage.backend.find(rental)).toEqual({ outcome: 'absent' })
  })
})
