import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { countOf, startSimulatedOci } from '../../sandbox/clouds/oci/simulated-oci.ts'
import { createMachinesInMemory } from '../fakes/machines-in-memory.ts'
import { deliver, signed } from './oci-signed-request.ts'
import {
  type Clients,
  frankfurt,
  minute,
  type OciStage,
  prepareOnce,
  refusalOf,
  setUpOci,
} from './oci-stage.ts'

let stage: OciStage
let clients: Clients
let prepared: Awaited<ReturnType<typeof prepareOnce>>

beforeAll(async () => {
  prepared = await prepareOnce()
})
beforeEach(async () => {
  stage = await setUpOci({ saved: prepared.saved })
  clients = stage.clients()
})
afterEach(() => stage.tearDown())

const launch = (opcRetryToken = 'token') =>
  clients.compute.launchInstance({ launchInstanceDetails: prepared.details, opcRetryToken })

describe('a fault', () => {
  it('of the kind "status" answers as it is told, and does nothing', async () => {
    stage.cloud.faults.once('launchInstance', {
      kind: 'status',
      status: 429,
      code: 'TooManyRequests',
      message: 'User-rate limit exceeded.',
    })
    expect(await refusalOf(launch())).toEqual({
      status: 429,
      code: 'TooManyRequests',
      message: 'User-rate limit exceeded.',
    })
    expect(stage.cloud.ledger()).toEqual([])
    await launch()
  })

  it.each([
    ['lost_answer', 1],
    ['cut_before', 0],
  ] as const)('of the kind "%s" cuts the connection, and %i machines are there', async (kind, count) => {
    stage.cloud.faults.once('launchInstance', { kind })
    await expect(launch()).rejects.toThrow('fetch failed')
    expect(stage.cloud.ledger()).toHaveLength(count)
    await launch()
    expect(stage.cloud.ledger()).toHaveLength(1)
  })

  it('of the kind "done_but_500" answers with 500 though the machine is there', async () => {
    stage.cloud.faults.once('launchInstance', { kind: 'done_but_500' })
    expect(await refusalOf(launch())).toMatchObject({ status: 500, code: 'InternalError' })
    expect(stage.cloud.ledger()).toHaveLength(1)
  })

  it('of the kind "delay" does it later, though nobody waits', async () => {
    stage.cloud.faults.once('launchInstance', { kind: 'delay', ms: 500 })
    const asked = await signed(stage.cloud, {
      service: 'compute',
      method: 'POST',
      path: '/20160918/instances',
      body: prepared.details,
    })
    const caller = new AbortController()
    const answer = fetch(asked.url, { ...asked, signal: caller.signal }).catch((error: Error) => error.name)
    await expect.poll(() => countOf(stage.cloud.requests, 'launchInstance')).toBe(1)
    caller.abort()
    expect(await answer).toBe('AbortError')
    await expect.poll(() => stage.cloud.ledger()).toHaveLength(1)
  })

  it('stays until it is cleared, if it is to', async () => {
    stage.cloud.faults.always('launchInstance', { kind: 'status', status: 500 })
    expect(await refusalOf(launch())).toMatchObject({ status: 500, code: 'InternalError' })
    expect(await refusalOf(launch())).toMatchObject({ status: 500 })
    stage.cloud.faults.clear()
    await launch()
    expect(countOf(stage.cloud.requests, 'launchInstance')).toBe(3)
  })
})

describe('the requests', () => {
  it('are kept in order, with what was asked', async () => {
    await launch()
    expect(stage.cloud.requests).toMatchObject([
      {
        operation: 'launchInstance',
        region: frankfurt,
        path: `/compute/${frankfurt}/20160918/instances`,
        body: { shape: 'VM.GPU.A10.1' },
        retryToken: 'token',
      },
    ])
  })

  it.each([
    ['GET', 'compute', '/20160918/nothing', 404],
    ['GET', 'nothing', '/20160918/instances', 404],
    ['GET', 'compute', '/20181001/instances', 404],
    ['PATCH', 'compute', '/20160918/instances', 405],
  ] as const)('%s to %s %s is answered with %i', async (method, service, path, status) => {
    expect((await deliver(await signed(stage.cloud, { method, service, path }))).status).toBe(status)
  })

  it.each(['availabilityDomains', 'compartments'])('for %s must say where', async (list) => {
    const answer = await deliver(
      await signed(stage.cloud, { service: 'identity', path: `/20160918/${list}` }),
    )
    expect(answer).toMatchObject({ status: 400, body: { code: 'InvalidParameter' } })
  })
})

it('machines are switched on once, however many ask at the same time', async () => {
  const { instance } = await launch()
  stage.clock.advance(minute)
  const gate = Promise.withResolvers<void>()
  stage.machines.gate = gate.promise
  const look = () => clients.compute.getInstance({ instanceId: instance.id })
  const answers = Promise.all([look(), look(), look()])
  await expect.poll(() => countOf(stage.cloud.requests, 'getInstance')).toBe(3)
  gate.resolve()
  await answers
  expect(stage.machines.started).toHaveLength(1)
})

it('a cloud that was never stopped in order has forgotten nothing that it answered', async () => {
  const { instance } = await launch()
  const killed = stage.cloud
  stage.machines = createMachinesInMemory()
  const { clock, machines, stateFile } = stage
  stage.cloud = await startSimulatedOci({ clock, machines, stateFile })
  const { compute } = stage.clients()
  expect((await compute.getInstance({ instanceId: instance.id })).instance.displayName).toBe('machine')
  await killed.stop()
})
