import { describe, expect, test } from 'vitest'
import { frankfurt } from '../backends/oci-stage.ts'
import { longWorldSuite, minute } from '../support/world-suite.ts'

const world = longWorldSuite()
const a10 = { gpu: 'A10:1..4' }

const ociWorld = async () => {
  const w = await world({ oci: true })
  if (!w.oci) throw new Error('this world has no OCI')
  const { cloud, another } = w.oci
  return { ...w, oci: cloud, another, living: () => cloud.ledger().filter(({ endedAt }) => endedAt === null) }
}
const busy = ({ status }: { status: string }) => status === 'busy'
const terminated = ({ status }: { status: string }) => status === 'terminated'
const manyHours = { 'retry-after': '86400' }

describe('a cloud that says to come back in a day', () => {
  test('is asked again within minutes for the machine that costs money meanwhile', async () => {
    const w = await ociWorld()
    const { id } = await w.rent(a10)
    await w.runUntil(id, busy, 30)
    w.oci.faults.once('terminateInstance', { kind: 'status', status: 429, headers: manyHours })
    await w.remove(id)
    await w.runUntil(id, terminated, 15)
    expect(w.living()).toEqual([])
  })

  test('is asked again within minutes for the machine that somebody waits for', async () => {
    const w = await ociWorld()
    w.oci.faults.once('launchInstance', { kind: 'status', status: 429, headers: manyHours })
    const { id } = await w.rent(a10)
    await w.runUntil(id, busy, 20)
    expect(w.living()).toHaveLength(1)
  })
})

describe('an offer that can not be judged', () => {
  test('is left for the next one before its renter has waited in vain', async () => {
    const w = await ociWorld()
    w.oci.setStock([
      ...w.oci.stock().filter(({ shape }) => !/A10/.test(shape)),
      ...['VM.GPU.A10.1', 'BM.GPU.A10.4'].map((shape) => ({
        region: frankfurt,
        domain: 1,
        shape,
        limit: 2,
        onDemand: 2,
        preemptible: 2,
      })),
    ])
    const [hotaisle, oci] = w.ctx.backends
    if (!hotaisle || !oci) throw new Error('this world has two clouds')
    const refusing: typeof oci = {
      ...oci,
      launch: async (rental) =>
        rental.instanceType === 'VM.GPU.A10.1'
          ? { outcome: 'rejected', code: 'throttled', message: '404 of something that it names' }
          : oci.launch(rental),
    }
    w.ctx.backends = [hotaisle, refusing]
    const { id } = await w.rent(a10)
    expect(await w.runUntil(id, busy, 40)).toMatchObject({ instanceType: 'BM.GPU.A10.4' })
  })

  test('that alone is left ends its request by the time that it says, with nothing rented', async () => {
    const w = await ociWorld()
    w.oci.faults.always('launchInstance', { kind: 'status', status: 404, code: 'NotAuthorizedOrNotFound' })
    const { id, createdAt } = await w.rent({ gpu: 'A10:1' })
    const ended = await w.runUntil(id, terminated, 60)
    expect((ended.terminatedAt ?? 0) - createdAt).toBeLessThan(31 * minute)
    expect(w.oci.ledger()).toEqual([])
    // Some 120 tries in half an hour of the clock: 10 s where nothing else runs.
  }, 120_000)
})

test('a launch whose answer was lost, and that failed for want of quota, leads to the next domain', async () => {
  const w = await ociWorld()
  w.oci.faults.nextMachine({
    failure: { afterMs: 1, code: 'LimitExceeded', message: 'gpu-a10-count' },
  })
  w.oci.faults.once('launchInstance', { kind: 'lost_answer' })
  const { id } = await w.rent({ gpu: 'A10:1' })
  const ready = await w.runUntil(id, busy, 60)
  expect(ready.zone).not.toBe(w.oci.ledger()[0]?.domain)
  expect(w.oci.ledger()).toHaveLength(2)
  expect(w.living()).toHaveLength(1)
})

test('a session that ends while a machine is at work ends nothing, and the machine is given back once there is another', async () => {
  const w = await ociWorld()
  const { id } = await w.rent({ gpu: 'A10:1', idleDuration: 'off' })
  await w.runUntil(id, busy, 30)
  w.oci.switches.credentials = 'all_401'
  ;(await w.guest(id)).agent = 'absent'
  await w.run(10)
  expect((await w.show(id)).status).toBe('busy')
  await w.remove(id)
  await w.run(60)
  expect(await w.show(id)).toMatchObject({ status: 'terminating' })
  expect(w.living()).toHaveLength(1)
  w.oci.switches.credentials = 'good'
  await w.runUntil(id, terminated, 30)
  expect(w.living()).toEqual([])
})

test('a machine that OCI does not show in its first minutes is neither lost nor rented again', async () => {
  const w = await ociWorld()
  const shownFrom = w.clock.now() + 3 * minute
  // A part of OCI that hears of new instances late.
  const send: typeof fetch = async (url, init) => {
    const isLate = init?.method === 'GET' && w.clock.now() < shownFrom
    if (isLate && /\/instances\/[^/]+$/.test(String(url)))
      return Response.json({ code: 'NotAuthorizedOrNotFound', message: 'no such' }, { status: 404 })
    return isLate && /\/instances\/?\?/.test(String(url)) ? Response.json([]) : fetch(url, init)
  }
  const [hotaisle] = w.ctx.backends
  if (!hotaisle) throw new Error('this world has two clouds')
  w.ctx.backends = [hotaisle, w.another({}, { fetch: send })]
  const { id } = await w.rent({ gpu: 'A10:1' })
  expect(await w.runUntil(id, busy, 30)).toMatchObject({ attempts: 1 })
  expect(w.oci.ledger()).toHaveLength(1)
})

test('the first request of all waits for a compartment that its region does not know yet', async () => {
  const w = await ociWorld()
  const [hotaisle] = w.ctx.backends
  if (!hotaisle) throw new Error('this world has two clouds')
  w.ctx.backends = [hotaisle, w.another({ compartment_id: undefined })]
  const { id } = await w.rent({ gpu: 'A10:1' })
  const notFound = { kind: 'status', status: 404, code: 'NotAuthorizedOrNotFound' } as const
  await w.run(1)
  for (const operation of ['listShapes', 'listVcns', 'listListings'] as const)
    w.oci.faults.always(operation, notFound)
  await w.run(3)
  w.oci.faults.clear()
  expect(await w.runUntil(id, busy, 30)).toMatchObject({ backend: 'oci' })
  expect(w.living()).toHaveLength(1)
})
