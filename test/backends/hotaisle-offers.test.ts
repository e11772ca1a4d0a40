import { afterEach, beforeEach, expect, it } from 'vitest'
import { defaultStock } from '../../sandbox/clouds/hotaisle/stock.ts'
import { type HotAisleStage, offerOf, startHotAisleStage } from './hotaisle-stage.ts'

let stage: HotAisleStage
beforeEach(async () => {
  stage = await startHotAisleStage()
})
afterEach(() => stage.cloud.stop())

const specs = (type: 'vm' | 'bm') => {
  const row = defaultStock.find(({ kind }) => kind === type)
  if (!row) throw new Error('no such row in the stock')
  return row.specs
}

/** One more row in the list of VMs, beside a good one. */
const addRow = (changes: Record<string, unknown>, specChanges: Record<string, unknown> = {}) => {
  const good = { Quantity: 4, OnDemandPrice: 199, MinimumReservationMinutes: 1, Specs: specs('vm') }
  const bad = { ...good, ...changes }
  if (!('Specs' in changes))
    bad.Specs = { ...specs('vm'), disk_capacity: 2 ** 41, ...JSON.parse(JSON.stringify(specChanges)) }
  const body = JSON.stringify([bad, good])
  stage.cloud.faults.always('GET virtual_machines/available', { kind: 'status', status: 200, body })
}

it('describes bare metal by its boot disk, its data drives and what it costs at once', async () => {
  const offer = await offerOf(stage.backend, 'bm-mi300x-8')
  expect(offer).toMatchObject({
    id: expect.stringMatching(/^hotaisle\/us-michigan-1\/bm-mi300x-8\/[0-9a-f]{8}$/),
    region: 'us-michigan-1',
    zones: [],
    availability: 'available',
    pricePerHourCents: 2712,
    minimumReservationMinutes: 480,
    minimumChargeCents: 21_696,
    resources: {
      cpu: { arch: 'x86', count: 104 },
      memoryGb: 2048,
      diskGb: 447,
      gpu: { vendor: 'amd', name: 'MI300X', memoryGb: 192, count: 8 },
      spot: false,
    },
  })
  expect(offer.resources.localDisks).toEqual(
    [0, 1, 2, 3, 5, 6, 7, 8].map((drive) => ({ mountPath: `/mnt/nvme${drive}n1p1`, sizeGb: 14_305 })),
  )
})

it('describes a VM by its whole disk', async () => {
  const { resources, minimumChargeCents } = await offerOf(stage.backend, 'vm-mi300x-2')
  expect(resources).toEqual({
    cpu: { arch: 'x86', count: 26 },
    memoryGb: 448,
    diskGb: 12_288,
    localDisks: [],
    gpu: { vendor: 'amd', name: 'MI300X', memoryGb: 192, count: 2 },
    spot: false,
  })
  expect(minimumChargeCents).toBe(398)
})

it('keeps rows apart that share a name', async () => {
  const { offers } = await stage.backend.offers({})
  const twins = offers.filter(({ instanceType }) => instanceType === 'vm-mi300x-1')
  expect(twins.map(({ resources }) => resources.cpu.count)).toEqual([8, 13])
  expect(new Set(twins.map(({ id }) => id)).size).toBe(2)
})

it('names an offer the same when only its price and the order of its keys have changed', async () => {
  const before = await offerOf(stage.backend, 'vm-mi300x-1')
  const Specs = Object.fromEntries(Object.entries(specs('vm')).reverse())
  addRow({ Specs, OnDemandPrice: 299, MinimumReservationMinutes: 30 })
  const after = await offerOf(stage.backend, 'vm-mi300x-1')
  expect(after).toMatchObject({ id: before.id, pricePerHourCents: 299 })
})

it('offers no bare metal to those who have not asked for it, and does not even look', async () => {
  const { offers, errors } = await stage.another({ bare_metal: false }).offers({})
  expect(new Set(offers.map(({ instanceType }) => instanceType))).toEqual(
    new Set(['vm-mi300x-1', 'vm-mi300x-2']),
  )
  expect(errors).toEqual([])
  expect(stage.cloud.requests.map(({ endpoint }) => endpoint)).toEqual(['GET virtual_machines/available'])
})

it('lists what is sold out as not available', async () => {
  stage.cloud.setStock(defaultStock.map((row) => ({ ...row, quantity: 0 })))
  const { offers } = await stage.backend.offers({})
  expect(new Set(offers.map(({ availability }) => availability))).toEqual(new Set(['not_available']))
})

it('reads a list that is null as empty', async () => {
  stage.cloud.setStock([])
  expect(await stage.backend.offers({})).toEqual({ offers: [], errors: [] })
})

it.each([
  ['without a price', { OnDemandPrice: null }, {}, 'no_price', 'price'],
  ['with a price of nothing', { OnDemandPrice: 0 }, {}, 'no_price', 'price'],
  ['with a price below nothing', { OnDemandPrice: -1 }, {}, 'unreadable_row', 'OnDemandPrice'],
  ['with a price that is text', { OnDemandPrice: '199' }, {}, 'unreadable_row', 'OnDemandPrice'],
  ['without a minimum', { MinimumReservationMinutes: undefined }, {}, 'unreadable_row', 'MinimumReservation'],
  ['with GPUs that are null', {}, { gpus: null }, 'no_gpus', 'no GPUs'],
  ['with no GPUs', {}, { gpus: [{ count: 0, model: 'MI300X' }] }, 'no_gpus', 'no GPUs'],
  ['with another GPU', {}, { gpus: [{ count: 1, model: 'MI355X' }] }, 'unknown_gpu', 'MI355X'],
  [
    'with several kinds of GPU',
    {},
    {
      gpus: [
        { count: 1, model: 'MI300X' },
        { count: 1, model: 'MI355X' },
      ],
    },
    'mixed_gpus',
    'MI300X, MI355X',
  ],
  ['with half a core', {}, { cpu_cores: 0.5 }, 'unreadable_row', 'Specs.cpu_cores'],
  ['with memory beyond belief', {}, { ram_capacity: 1e18 }, 'unreadable_row', 'Specs.ram_capacity'],
  ['without Specs', { Specs: undefined }, {}, 'unreadable_row', 'Specs'],
  ['twice', { Specs: specs('vm') }, {}, 'duplicate_row', 'same Specs'],
])('leaves out a row %s, and offers the others', async (_, changes, specChanges, code, words) => {
  addRow(changes, specChanges)
  const { offers, errors } = await stage.another({ bare_metal: false }).offers({})
  expect(offers).toHaveLength(1)
  expect(errors).toEqual([{ backend: 'hotaisle', code, message: expect.stringContaining(words) }])
  expect(errors[0]?.message).toMatch(/row \d/)
})

it('leaves out bare metal that names no boot disk', async () => {
  const row = {
    Quantity: 1,
    OnDemandPrice: 2712,
    MinimumReservationMinutes: 480,
    Specs: { ...specs('bm'), disks: null },
  }
  const body = JSON.stringify([row])
  stage.cloud.faults.always('GET bare_metal/available', { kind: 'status', status: 200, body })
  const { errors } = await stage.backend.offers({})
  expect(errors).toMatchObject([{ code: 'no_boot_disk' }])
})

it('is not confused by a row that is no row', async () => {
  const body = JSON.stringify([null, 7, 'row', []])
  stage.cloud.faults.always('GET virtual_machines/available', { kind: 'status', status: 200, body })
  const { offers, errors } = await stage.backend.offers({})
  expect(offers.map(({ instanceType }) => instanceType)).toEqual(['bm-mi300x-8'])
  expect(errors).toHaveLength(4)
})

it.each([
  ['fails', { kind: 'status', status: 503, body: 'try later' }, 'no_answer', 'try later'],
  ['is cut off', { kind: 'cut_before' }, 'no_answer', 'failed'],
  ['is refused', { kind: 'status', status: 403, body: 'Forbidden: no' }, 'refused', 'Forbidden: no'],
  ['is no JSON', { kind: 'status', status: 200, body: '<html>' }, 'no_answer', "can't be read"],
  ['is no list', { kind: 'status', status: 200, body: '{}' }, 'no_answer', "can't be read"],
] as const)('offers bare metal when the list of VMs %s', async (_, fault, code, words) => {
  stage.cloud.faults.always('GET virtual_machines/available', fault)
  const { offers, errors } = await stage.backend.offers({})
  expect(offers.map(({ instanceType }) => instanceType)).toEqual(['bm-mi300x-8'])
  expect(errors).toEqual([{ backend: 'hotaisle', code, message: expect.stringContaining(words) }])
})

it('says which region there is when the settings allow only others', async () => {
  const { offers, errors } = await stage.another({ regions: ['us-east-1'] }).offers({})
  expect(offers).toEqual([])
  expect(errors).toMatchObject([
    { code: 'unknown_region', message: expect.stringContaining('us-michigan-1') },
  ])
})

it('offers what there is when the settings name its region among others', async () => {
  const { offers } = await stage.another({ regions: ['us-east-1', 'us-michigan-1'] }).offers({})
  expect(offers).toHaveLength(4)
})
