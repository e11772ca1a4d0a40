import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPauses, readRetryAfter } from '../../lib/backends/pauses.ts'
import { createManualClock } from '../fakes/manual-clock.ts'
import * as hotAisle from './hotaisle-stage.ts'
import * as oci from './oci-stage.ts'

const minute = 60_000
const busyCloud = { kind: 'status', status: 429, headers: { 'retry-after': '120' } } as const
const closedCloud = { ...busyCloud, status: 503 }

describe('a pause', () => {
  it.each([
    ['120', 120_000],
    ['0', 0],
    ['Tue, 01 Jan 2030 00:01:30 GMT', 90_000],
    ['Mon, 31 Dec 2029 23:00:00 GMT', 0],
    ['soon', undefined],
    [null, undefined],
  ])('of Retry-After %s is %s ms', (header, expected) => {
    expect(readRetryAfter(header, createManualClock(Date.UTC(2030, 0, 1)))).toBe(expected)
  })

  it.each([200, 404, 500, 502])('is not made by %i', (status) => {
    const pauses = createPauses(createManualClock())
    pauses.heed('here', status, 1000)
    expect(pauses.at('here')).toBeUndefined()
  })

  it('holds for its own place, ends by itself, and is not cut short by a later, shorter one', () => {
    const clock = createManualClock()
    const pauses = createPauses(clock)
    pauses.heed('here', 429, 60_000)
    pauses.heed('here', 503, 1000)
    expect(pauses.at('there')).toBeUndefined()
    clock.advance(59_999)
    expect(pauses.at('here')?.leftMs).toBe(1)
    clock.advance(1)
    expect(pauses.at('here')).toBeUndefined()
  })

  it('is five minutes at most', () => {
    const pauses = createPauses(createManualClock())
    pauses.heed('here', 429, 86_400_000)
    expect(pauses.at('here')?.leftMs).toBe(5 * minute)
  })
})

describe.each([busyCloud, closedCloud])('Hot Aisle asked for two minutes of peace by $status', (fault) => {
  let stage: hotAisle.HotAisleStage
  beforeEach(async () => {
    stage = await hotAisle.startHotAisleStage()
  })
  afterEach(() => stage.cloud.stop())

  it('so a launch is rejected without being sent, and can be sent after it', async () => {
    const rental = await hotAisle.intend(stage, 'vm-mi300x-1')
    stage.cloud.faults.once('GET balance', fault)
    stage.cloud.faults.once('GET user', fault)
    await stage.backend.check()
    stage.clock.advance(30_000)
    const before = stage.cloud.requests.length
    expect(await stage.backend.launch(rental)).toEqual({
      outcome: 'rejected',
      code: 'throttled',
      message: expect.stringContaining('not sent'),
      retryAfterMs: 90_000,
    })
    expect(stage.cloud.requests).toHaveLength(before)
    expect(stage.cloud.ledger()).toEqual([])
    stage.clock.advance(90_000)
    expect(await stage.backend.launch(rental)).toMatchObject({ outcome: 'launched' })
  })

  it('so a create that was to follow an upload of the key is rejected, and never unknown', async () => {
    const rental = await hotAisle.intend(stage, 'bm-mi300x-8')
    await stage.backend.launch(rental)
    stage.cloud.faults.once('GET user', fault)
    await stage.backend.check()
    const outcome = await stage.backend.launch(await rental)
    expect(outcome).toMatchObject({ outcome: 'rejected', code: 'throttled', retryAfterMs: 2 * minute })
    expect(stage.cloud.ledger()).toHaveLength(1)
  })

  it('so nothing else is sent either, and everything says for how long', async () => {
    const ref = await hotAisle.rent(stage, 'vm-mi300x-1')
    const rental = await hotAisle.intend(stage, 'vm-mi300x-1')
    const offer = await hotAisle.offerOf(stage.backend, 'vm-mi300x-1')
    stage.cloud.faults.once('GET virtual_machines/{vm}', fault)
    const patience = { retryAfterMs: 2 * minute }
    expect(await stage.backend.state(ref)).toMatchObject({ state: 'unknown', ...patience })
    const before = stage.cloud.requests.length
    expect(await stage.backend.state(ref)).toMatchObject({ state: 'unknown', ...patience })
    expect(await stage.backend.release(ref, { force: true })).toMatchObject({ outcome: 'retry', ...patience })
    expect(await stage.backend.find(rental)).toMatchObject({ outcome: 'unclear', ...patience })
    expect(await stage.backend.prepare(offer)).toMatchObject({ failed: expect.any(String), ...patience })
    const server = { ...ref, instanceType: 'bm-mi300x-8' }
    expect(await stage.backend.repair(server)).toMatchObject({ outcome: 'retry', ...patience })
    expect(await stage.backend.offers({})).toMatchObject({
      offers: [],
      errors: [
        { code: 'no_answer', ...patience },
        { code: 'no_answer', ...patience },
      ],
    })
    expect(await stage.backend.owned()).toMatchObject({ complete: false })
    expect(await stage.backend.check()).toMatchObject({ ok: false, state: 'unknown' })
    expect(stage.cloud.requests).toHaveLength(before)
  })
})

it('Hot Aisle that is busy without saying until when is asked as ever', async () => {
  const stage = await hotAisle.startHotAisleStage()
  stage.cloud.faults.once('GET user', { kind: 'status', status: 429 })
  await stage.backend.check()
  expect(await stage.backend.check()).toEqual({ ok: true })
  await stage.cloud.stop()
})

describe.each([busyCloud, closedCloud])('OCI asked for two minutes of peace by $status', (fault) => {
  let stage: oci.OciStage
  beforeEach(async () => {
    stage = await oci.startOciStage()
  })
  afterEach(() => stage.cloud.stop())
  const patience = { retryAfterMs: 2 * minute }

  it('so a launch is rejected without being sent, and can be sent after it', async () => {
    const ref = await oci.rent(stage, 'VM.GPU.A10.1')
    const rental = await oci.intend(stage, 'VM.GPU.A10.1', { mark: 'berth:0a0b0c0d:i-000000000002:1' })
    stage.cloud.faults.once('getInstance', fault)
    expect(await stage.backend.state(ref)).toMatchObject({ state: 'unknown', ...patience })
    const before = stage.cloud.requests.length
    expect(await stage.backend.launch(rental)).toMatchObject({
      outcome: 'rejected',
      code: 'throttled',
      message: expect.stringContaining('not sent'),
      ...patience,
    })
    expect(await stage.backend.state(ref)).toMatchObject({ state: 'unknown', ...patience })
    expect(await stage.backend.release(ref, { force: false })).toMatchObject({
      outcome: 'retry',
      ...patience,
    })
    expect(await stage.backend.find(rental)).toMatchObject({ outcome: 'unclear', ...patience })
    expect(stage.cloud.requests).toHaveLength(before)
    stage.clock.advance(2 * minute)
    const again = { ...rental, intent: { ...rental.intent, writtenAt: stage.clock.now() } }
    expect(await stage.backend.launch(again)).toMatchObject({ outcome: 'launched' })
    expect(stage.cloud.ledger()).toHaveLength(2)
  })

  it('so offers say for how long', async () => {
    await stage.backend.check()
    for (const operation of ['listShapes', 'listAvailabilityDomains'] as const)
      stage.cloud.faults.always(operation, fault)
    const { errors } = await stage.backend.offers({})
    expect(errors).toMatchObject([{ code: 'no_answer', ...patience }])
    const before = stage.cloud.requests.length
    await stage.backend.offers({})
    expect(stage.cloud.requests).toHaveLength(before)
  })

  it('for the hosts that said so, and for no other', async () => {
    const asked: string[] = []
    const send: typeof fetch = async (url) => {
      const { host } = new URL(String(url))
      asked.push(host)
      return new Response('{}', { status: fault.status, headers: fault.headers })
    }
    const backend = stage.another({ endpoint: 'http://{service}.{region}.cloud.test' }, { fetch: send })
    const refIn = (region: string) => ({ region, instanceType: 'VM.GPU.A10.1', cloudId: 'ocid1.instance.x' })
    for (const region of ['eu-frankfurt-1', 'eu-frankfurt-1', 'eu-milan-1', 'eu-milan-1'])
      expect(await backend.state(refIn(region))).toMatchObject({ state: 'unknown', ...patience })
    expect(asked).toEqual(['compute.eu-frankfurt-1.cloud.test', 'compute.eu-milan-1.cloud.test'])
  })
})
