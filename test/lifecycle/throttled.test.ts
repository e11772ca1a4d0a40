import { describe, expect, test } from 'vitest'
import { bareMetal, longWorldSuite, minute, vm } from '../support/world-suite.ts'

const world = longWorldSuite()
const throttled = { kind: 'status', status: 429, headers: { 'retry-after': '120' } } as const
const busy = ({ status }: { status: string }) => status === 'busy'
const terminated = ({ status }: { status: string }) => status === 'terminated'

type World = Awaited<ReturnType<typeof world>>

/** How many requests Hot Aisle gets in so many minutes, while all that it answers to some is to come back later. */
const requestsWhile = async (
  w: World,
  endpoints: Parameters<World['cloud']['faults']['always']>[0][],
  minutes: number,
  fault: Parameters<World['cloud']['faults']['always']>[1] = throttled,
) => {
  for (const endpoint of endpoints) w.cloud.faults.always(endpoint, fault)
  const before = w.cloud.requests.length
  await w.run(minutes)
  w.cloud.faults.clear()
  return w.cloud.requests.length - before
}

/** One request for each pause of two minutes, and one on either side. */
const aHandful = (minutes: number) => minutes / 2 + 2

describe('a throttled Hot Aisle is waited for, not hammered', () => {
  test('while its offers are asked for', async () => {
    const w = await world()
    const { id } = await w.rent(vm)
    const asked = await requestsWhile(w, ['GET virtual_machines/available', 'GET bare_metal/available'], 4)
    // The lists of both kinds are asked for at the same time.
    expect(asked).toBeLessThanOrEqual(2 * aHandful(4))
    await w.runUntil(id, busy, 15)
    expect(w.rentals()).toHaveLength(1)
  })

  test('while the machines that exist are asked for', async () => {
    const w = await world({ bareMetal: false })
    const { id } = await w.rent(vm)
    expect(await requestsWhile(w, ['GET virtual_machines'], 10)).toBeLessThanOrEqual(2 * aHandful(10))
    await w.runUntil(id, busy, 15)
    expect(w.rentals()).toHaveLength(1)
  })

  test.each([429, 503])('while a launch is unclear, by %i', async (status) => {
    const w = await world()
    w.cloud.faults.once('POST virtual_machines', { kind: 'lost_answer' })
    const { id } = await w.rent(vm)
    await w.runUntil(id, ({ intent }) => intent?.unclearSince !== undefined)
    const fault = { ...throttled, status }
    expect(await requestsWhile(w, ['GET virtual_machines'], 20, fault)).toBeLessThanOrEqual(aHandful(20))
    expect(w.said.join()).toContain('LaunchUnclear')
    await w.runUntil(id, busy, 30)
    expect(w.rentals()).toHaveLength(1)
  })

  test('while a machine comes up', async () => {
    const w = await world()
    const { id } = await w.rent(bareMetal)
    await w.runUntil(id, ({ phase }) => phase === 'booting')
    expect(await requestsWhile(w, ['GET bare_metal/{server}'], 30)).toBeLessThanOrEqual(aHandful(30))
    await w.runUntil(id, busy, 40)
    expect(w.rentals()).toHaveLength(1)
  })

  test('while a machine is to be given back', async () => {
    const w = await world()
    const { id } = await w.rent(vm)
    await w.runUntil(id, busy, 15)
    await w.remove(id)
    const asked = await requestsWhile(w, ['GET virtual_machines/{vm}', 'DELETE virtual_machines/{vm}'], 60)
    expect(asked).toBeLessThanOrEqual(aHandful(60))
    expect(w.said.join()).toContain('ReleaseOverdue')
    await w.runUntil(id, terminated, 10)
    expect(w.stillRented()).toEqual([])
  })

  test('while a machine in service does not answer, and its deadline of twenty minutes stays', async () => {
    const w = await world()
    const { id } = await w.rent({ ...vm, idleDuration: 'off' })
    await w.runUntil(id, busy, 15)
    ;(await w.guest(id)).agent = 'absent'
    const since = w.clock.now()
    const asked = await requestsWhile(w, ['GET virtual_machines/{vm}'], 18)
    expect(asked).toBeLessThanOrEqual(aHandful(18))
    const ended = await w.runUntil(id, ({ status }) => status === 'terminating', 10)
    expect(ended.terminationReason).toBe('unreachable')
    expect(w.clock.now() - since).toBeLessThan(22 * minute)
    await w.runUntil(id, terminated, 10)
  })
})

test('the deadline of a machine that comes up is kept while its cloud wants to be left for five minutes', async () => {
  const w = await world()
  const { id } = await w.rent(vm)
  const { bootDeadline = 0 } = await w.runUntil(id, ({ phase }) => phase === 'booting')
  w.cloud.faults.always('GET virtual_machines/{vm}', { ...throttled, headers: { 'retry-after': '290' } })
  const ended = await w.runUntil(id, ({ status }) => status === 'terminating', 20)
  expect(ended.terminationReason).toBe('provisioning_timeout')
  expect(w.clock.now() - bootDeadline).toBeLessThanOrEqual(2000)
  w.cloud.faults.clear()
  await w.runUntil(id, terminated, 15)
  expect(w.stillRented()).toEqual([])
})

test('a throttled OCI is waited for, while a machine comes up and while it is given back', async () => {
  const w = await world({ oci: true })
  const oci = w.oci?.cloud
  if (!oci) throw new Error('this world has no OCI')
  const { id } = await w.rent({ gpu: 'H100:8' })
  await w.runUntil(id, ({ phase }) => phase === 'booting')
  const whileThrottled = async (minutes: number) => {
    oci.faults.always('getInstance', throttled)
    const before = oci.requests.length
    await w.run(minutes)
    oci.faults.clear()
    return oci.requests.length - before
  }
  expect(await whileThrottled(10)).toBeLessThanOrEqual(aHandful(10))
  await w.runUntil(id, busy, 15)
  await w.remove(id)
  expect(await whileThrottled(30)).toBeLessThanOrEqual(aHandful(30))
  await w.runUntil(id, terminated, 15)
  expect(oci.ledger().filter(({ endedAt }) => endedAt === null)).toEqual([])
})
