import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Rental } from '../../lib/backends/backend.ts'
import { countOf } from '../../sandbox/clouds/hotaisle/simulated-hot-aisle.ts'
import { defaultStock } from '../../sandbox/clouds/hotaisle/stock.ts'
import { type HotAisleStage, intend, rent, startHotAisleStage } from './hotaisle-stage.ts'

const minute = 60_000

let stage: HotAisleStage
beforeEach(async () => {
  stage = await startHotAisleStage()
})
afterEach(() => stage.cloud.stop())

/** A launch whose answer was lost: done, or never arrived. */
const lose = async (instanceType: string, kind: 'lost_answer' | 'cut_before'): Promise<Rental> => {
  const rental = await intend(stage, instanceType, 'berth-lost')
  const endpoint = instanceType.startsWith('bm') ? 'POST bare_metal' : 'POST virtual_machines'
  stage.cloud.faults.once(endpoint, { kind })
  await stage.backend.launch(rental)
  return rental
}

/** Somebody of the team rents a VM by hand, without a description. */
const rentByHand = (row: number) =>
  fetch(`${stage.cloud.url}/teams/sandbox/virtual_machines/`, {
    method: 'POST',
    headers: { authorization: `Token ${stage.cloud.apiKey}` },
    body: JSON.stringify(defaultStock[row]?.specs),
  })

describe('a virtual machine whose launch was lost', () => {
  it('is adopted beside older ones of the same kind, and described', async () => {
    await rent(stage, 'vm-mi300x-1', 'berth-older')
    await rentByHand(0)
    const rental = await lose('vm-mi300x-1', 'lost_answer')
    const newest = stage.cloud.ledger().at(-1)
    expect(await stage.backend.find(rental)).toEqual({
      outcome: 'found',
      machine: { cloudId: newest?.name, rentalId: newest?.deploymentId },
    })
    expect(stage.cloud.ledger().map(({ description }) => description)).toEqual([
      'berth-older',
      '',
      'berth-lost',
    ])
  })

  it('is adopted in the slot of one that was given back', async () => {
    const older = await rent(stage, 'vm-mi300x-1', 'berth-older')
    const rental = await intend(stage, 'vm-mi300x-1', 'berth-lost')
    await stage.backend.release(older, { force: true })
    stage.clock.advance(minute)
    stage.cloud.faults.once('POST virtual_machines', { kind: 'lost_answer' })
    await stage.backend.launch(rental)
    expect(await stage.backend.find(rental)).toMatchObject({
      outcome: 'found',
      machine: { cloudId: older.cloudId },
    })
  })

  it('is adopted even if it can not be described', async () => {
    const rental = await lose('vm-mi300x-1', 'lost_answer')
    stage.cloud.faults.once('PATCH virtual_machines/{vm}', { kind: 'status', status: 500 })
    expect(await stage.backend.find(rental)).toMatchObject({ outcome: 'found' })
  })

  it('is a matter for a person when two could be it, and nothing is described', async () => {
    const rental = await lose('vm-mi300x-1', 'lost_answer')
    await rentByHand(0)
    expect(await stage.backend.find(rental)).toMatchObject({
      outcome: 'unclear',
      message: expect.stringMatching(/enc1-gpuvm001, enc1-gpuvm002.*person/),
    })
    expect(countOf(stage.cloud.requests, 'PATCH virtual_machines/{vm}')).toBe(0)
  })

  it('is not one that somebody else described', async () => {
    const rental = await lose('vm-mi300x-1', 'cut_before')
    await rent(stage, 'vm-mi300x-1', 'somebody')
    stage.clock.advance(11 * minute)
    expect(await stage.backend.find(rental)).toEqual({ outcome: 'absent' })
  })

  it('is not one with another number of GPUs', async () => {
    const rental = await lose('vm-mi300x-1', 'cut_before')
    await rentByHand(2)
    stage.clock.advance(11 * minute)
    expect(await stage.backend.find(rental)).toEqual({ outcome: 'absent' })
  })

  it('is a matter for a person when a new one has other cores than were asked for', async () => {
    const rental = await lose('vm-mi300x-1', 'cut_before')
    await rentByHand(1)
    stage.clock.advance(11 * minute)
    expect(await stage.backend.find(rental)).toMatchObject({
      outcome: 'unclear',
      message: expect.stringContaining('person'),
    })
  })

  it('is unclear for ten minutes, then absent', async () => {
    const rental = await lose('vm-mi300x-1', 'cut_before')
    stage.clock.advance(10 * minute)
    expect(await stage.backend.find(rental)).toMatchObject({ outcome: 'unclear' })
    stage.clock.advance(1)
    expect(await stage.backend.find(rental)).toEqual({ outcome: 'absent' })
  })

  it.each([
    [
      'counts more than is listed',
      { kind: 'status', status: 200, body: '{"virtual_machine_count":1,"bare_metal_server_count":0}' },
    ],
    ['can not be read', { kind: 'status', status: 500 }],
    ['is nonsense', { kind: 'status', status: 200, body: 'null' }],
  ] as const)('is not called absent while the balance %s', async (_, fault) => {
    const rental = await lose('vm-mi300x-1', 'cut_before')
    stage.clock.advance(11 * minute)
    stage.cloud.faults.always('GET balance', fault)
    expect(await stage.backend.find(rental)).toMatchObject({ outcome: 'unclear' })
  })

  it('is not adopted by an intent that did not note what existed', async () => {
    const rental = await lose('vm-mi300x-1', 'lost_answer')
    const intent = { ...rental.intent, existing: undefined }
    expect(await stage.backend.find({ ...rental, intent })).toMatchObject({ outcome: 'unclear' })
  })

  it('is not called absent by a listing with a row that can not be read', async () => {
    const rental = await lose('vm-mi300x-1', 'cut_before')
    stage.clock.advance(11 * minute)
    stage.cloud.faults.once('GET virtual_machines', { kind: 'status', status: 200, body: '[{"name":7}]' })
    expect(await stage.backend.find(rental)).toMatchObject({ outcome: 'unclear' })
  })
})

describe('bare metal whose launch was lost', () => {
  it('is found by its description, also beside others', async () => {
    await rent(stage, 'bm-mi300x-8', 'berth-older')
    const rental = await lose('bm-mi300x-8', 'lost_answer')
    expect(await stage.backend.find(rental)).toMatchObject({
      outcome: 'found',
      machine: { cloudId: 'enc1-gpu002' },
    })
  })

  it('is unclear for ten minutes, then absent', async () => {
    const rental = await lose('bm-mi300x-8', 'cut_before')
    stage.clock.advance(10 * minute)
    expect(await stage.backend.find(rental)).toMatchObject({ outcome: 'unclear' })
    stage.clock.advance(1)
    expect(await stage.backend.find(rental)).toEqual({ outcome: 'absent' })
  })
})
