import { describe, expect, test } from 'vitest'
import { listOffers } from '../../lib/lifecycle/offers.ts'
import { offersQuery, wantedByQuery } from '../../lib/model/request.ts'
import { domain, frankfurt } from '../backends/oci-stage.ts'
import { longWorldSuite, minute } from '../support/world-suite.ts'

const world = longWorldSuite()
const h100 = { gpu: 'H100:8' }
const a10 = { gpu: 'A10' }
const v100 = { gpu: 'V100' }
const historyOf = (events: { message: string }[]) => events.map(({ message }) => message).join('\n')

const ociWorld = async () => {
  const w = await world({ oci: true })
  if (!w.oci) throw new Error('this world has no OCI')
  const { cloud } = w.oci
  return {
    ...w,
    oci: cloud,
    launches: () => cloud.requests.filter(({ operation }) => operation === 'launchInstance'),
    living: () => cloud.ledger().filter(({ endedAt }) => endedAt === null),
  }
}
type OciWorld = Awaited<ReturnType<typeof ociWorld>>

const stock = (w: OciWorld, shape: string, domains: Record<number, object>) =>
  w.oci.setStock([
    ...w.oci.stock().filter((row) => row.shape !== shape),
    ...Object.entries(domains).map(([number, changes]) => ({
      region: frankfurt,
      domain: Number(number),
      shape,
      limit: 2,
      onDemand: 2,
      preemptible: 2,
      ...changes,
    })),
  ])

const busy = ({ status }: { status: string }) => status === 'busy'
const terminated = ({ status }: { status: string }) => status === 'terminated'

test('a machine is rented, checked, and given back, and what it cost is what OCI charges', async () => {
  const w = await ociWorld()
  const { id } = await w.rent(h100)
  const ready = await w.runUntil(id, busy, 30)
  expect(ready).toMatchObject({
    backend: 'oci',
    instanceType: 'BM.GPU.H100.8',
    zone: domain(1),
    hardware: { verdict: 'match', observed: { driverVersion: '580.167.08', gpuCount: 8 } },
  })
  await w.remove(id)
  await w.runUntil(id, terminated, 30)
  expect(w.living()).toEqual([])
  expect(w.launches()).toHaveLength(1)
})

describe('a domain that is full', () => {
  test('leads to the next one, with another token, by one call each', async () => {
    const w = await ociWorld()
    stock(w, 'BM.GPU.H100.8', { 1: { onDemand: 0 }, 2: {} })
    w.oci.switches.capacityReportsLie = true
    const { id } = await w.rent({ ...h100, backends: ['oci'] })
    const ready = await w.runUntil(id, busy, 60)
    expect(ready.zone).toBe(domain(2))
    const [first, second, ...more] = w.launches()
    expect(more).toEqual([])
    expect(first?.retryToken).not.toBe(second?.retryToken)
    expect(w.oci.ledger()).toMatchObject([{ domain: domain(2) }])
  })

  test('and all others, too, lead to the next offer', async () => {
    const w = await ociWorld()
    stock(w, 'VM.GPU.A10.1', { 1: { onDemand: 0 }, 2: { onDemand: 0 } })
    stock(w, 'BM.GPU.A10.4', { 1: {} })
    // One report that is wrong: the machines of the first offer are gone by the time they are asked for.
    w.oci.faults.always('createComputeCapacityReport', { kind: 'status', status: 429 })
    const { id } = await w.rent({ gpu: 'A10:1..4' })
    expect(await w.runUntil(id, busy, 60)).toMatchObject({ instanceType: 'BM.GPU.A10.4' })
    expect(w.launches()).toHaveLength(3)
    expect(w.oci.ledger()).toHaveLength(1)
  })

  test('of preemptible hosts leads to one on demand', async () => {
    const w = await ociWorld()
    stock(w, 'VM.GPU3.1', { 1: { preemptible: 0 } })
    const { id } = await w.rent(v100)
    const ready = await w.runUntil(id, busy, 60)
    expect(ready).toMatchObject({
      instanceType: 'VM.GPU3.1',
      resources: { spot: false },
      pricePerHourCents: 295,
    })
    expect(w.oci.ledger()).toMatchObject([{ preemptible: false }])
  })
})

describe('a limit that is reached', () => {
  test('at once leads to the next domain', async () => {
    const w = await ociWorld()
    w.oci.faults.once('launchInstance', { kind: 'status', status: 400, code: 'LimitExceeded' })
    const { id } = await w.rent(a10)
    expect(await w.runUntil(id, busy, 30)).toMatchObject({ zone: domain(2), attempts: 2 })
    expect(w.oci.ledger()).toHaveLength(1)
  })

  test('after the launch was accepted leads to the next offer, and leaves nothing behind', async () => {
    const w = await ociWorld()
    stock(w, 'VM.GPU.A10.1', { 1: {} })
    w.oci.faults.nextMachine({
      failure: { afterMs: 20_000, code: 'LimitExceeded', message: 'gpu-a10-count' },
    })
    const { id } = await w.rent({ gpu: 'A10:1..4' })
    const ready = await w.runUntil(id, busy, 60)
    expect(ready).toMatchObject({ instanceType: 'BM.GPU.A10.4', attempts: 2 })
    expect(historyOf(ready.events)).toMatch(
      /never ran, and nothing is charged for it: LimitExceeded: gpu-a10-count/,
    )
    expect(w.oci.ledger().map(({ startedAt }) => startedAt === null)).toEqual([true, false])
    expect(w.living()).toHaveLength(1)
    expect(ready.startedAt).toBeGreaterThan(w.oci.ledger()[0]?.createdAt ?? 0)
  })

  test('by all offers ends the request, and nothing is charged', async () => {
    const w = await ociWorld()
    w.oci.faults.always('launchInstance', { kind: 'status', status: 400, code: 'LimitExceeded' })
    const { id } = await w.rent(h100)
    const ended = await w.runUntil(id, terminated, 30)
    expect(ended).toMatchObject({ terminationReason: 'no_offers', attempts: 3 })
    expect(w.oci.ledger()).toEqual([])
  })
})

describe('a launch whose answer is lost', () => {
  test.each(['lost_answer', 'done_but_500'] as const)('by %s brings exactly one machine', async (kind) => {
    const w = await ociWorld()
    w.oci.faults.once('launchInstance', { kind })
    const { id } = await w.rent(a10)
    const ready = await w.runUntil(id, busy, 30)
    expect(ready.machine?.cloudId).toBe(w.oci.ledger()[0]?.instanceId)
    expect(w.launches()).toHaveLength(1)
  })

  test('by a handler that died before it wrote it down brings exactly one machine', async () => {
    const w = await ociWorld()
    const { id } = await w.rent(a10)
    const [hotaisle, oci] = w.ctx.backends
    if (!hotaisle || !oci) throw new Error('this world has two clouds')
    const dies = {
      ...oci,
      launch: async (rental: Parameters<typeof oci.launch>[0]) => {
        await oci.launch(rental)
        throw new Error('killed')
      },
    }
    w.ctx.backends = [hotaisle, dies]
    await expect(w.run(1)).rejects.toThrow('killed')
    w.ctx.backends = [hotaisle, oci]
    await w.runUntil(id, busy, 30)
    expect(w.oci.ledger()).toHaveLength(1)
    expect(w.launches()).toHaveLength(1)
  })
})

test('a preemptible machine that OCI takes back ends as interrupted', async () => {
  const w = await ociWorld()
  const { id } = await w.rent({ ...v100, spotPolicy: 'spot' })
  const { machine } = await w.runUntil(id, busy, 30)
  await w.oci.preempt(machine?.cloudId ?? '')
  const ended = await w.runUntil(id, terminated, 60)
  expect(ended.terminationReason).toBe('interrupted')
})

describe('giving back', () => {
  test('while the credentials are broken is not believed, and done once they work', async () => {
    const w = await ociWorld()
    const { id } = await w.rent(a10)
    await w.runUntil(id, busy, 30)
    w.oci.switches.credentials = 'all_404'
    await w.remove(id)
    await w.run(10)
    expect((await w.show(id)).status).toBe('terminating')
    expect(w.living()).toHaveLength(1)
    w.oci.switches.credentials = 'good'
    await w.runUntil(id, terminated, 30)
    expect(w.living()).toEqual([])
  })

  test('while the machine is being changed is tried again', async () => {
    const w = await ociWorld()
    w.oci.switches.noTerminationWhileProvisioning = true
    const { id } = await w.rent(a10)
    await w.runUntil(id, ({ machine }) => machine !== undefined)
    await w.remove(id)
    const ended = await w.runUntil(id, terminated, 30)
    expect(historyOf(ended.events)).toContain('409')
    expect(w.living()).toEqual([])
  })
})

describe('a cloud that fails hides nothing of the other', () => {
  const backendsOf = async (w: OciWorld) => {
    const { offers, errors } = await listOffers(w.ctx, wantedByQuery(offersQuery.parse({})))
    return { offers: [...new Set(offers.map(({ backend }) => backend))].sort(), errors }
  }

  test('both answer', async () => {
    expect(await backendsOf(await ociWorld())).toEqual({ offers: ['hotaisle', 'oci'], errors: [] })
  })

  test('Hot Aisle fails', async () => {
    const w = await ociWorld()
    await w.cloud.stop()
    expect(await backendsOf(w)).toMatchObject({ offers: ['oci'], errors: [{ backend: 'hotaisle' }, {}] })
  })

  test('OCI fails', async () => {
    const w = await ociWorld()
    w.oci.switches.credentials = 'all_401'
    expect(await backendsOf(w)).toMatchObject({ offers: ['hotaisle'], errors: [{ backend: 'oci' }] })
  })
})

test('a machine that never shows an address is given back after its ten minutes', async () => {
  const w = await ociWorld()
  w.oci.faults.nextMachine({ publicIp: false })
  const { id } = await w.rent(a10)
  const ended = await w.runUntil(id, terminated, 60)
  expect(ended.terminationReason).toBe('provisioning_timeout')
  expect(ended.terminationMessage).toContain('waiting for a public address')
  expect((ended.releaseAskedAt ?? 0) - (ended.startedAt ?? 0)).toBeLessThan(12 * minute)
})
