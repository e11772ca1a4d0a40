import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { catalogueShape, judgeFeeds } from '../../lib/backends/oci/catalogue.ts'
import { familyOf } from '../../lib/backends/oci/families.ts'
import { feed } from '../../lib/backends/oci/feed-rows.ts'
import { gpuNameOf, listingOf } from '../../lib/backends/oci/gpus.ts'
import { shippedCatalogue } from '../../lib/backends/oci/known-catalogue.ts'
import { feedCopy, makeShippedCatalogue, shippedFile } from '../support/make-oci-catalogue.ts'

const { shapes, left } = judgeFeeds(feedCopy.shapes, feedCopy.products)
const shipped = z.array(catalogueShape).parse(shippedCatalogue.rows)

describe('the copy of the feeds', () => {
  it.each([
    ['BM.DenseIO.E5.128', 'shapes of the subtype dense are not offered'],
    ['BM.Standard.E4.128', 'the price of its product B93113 is not in the feed'],
    ['BM.GPU.MI300X.8', 'no ROCm image is published for AMD Instinct'],
    ['BM.GPU.MI355X.8', 'no ROCm image is published for AMD Instinct'],
    ['BM.GPU.GB200.4', 'Grace superchips are arm64 hosts, the images are x86-64'],
    ['BM.GPU.GB300.4', 'Grace superchips are arm64 hosts, the images are x86-64'],
    ['BM.GPU.B300.8', 'the feed does not say how many OCPUs it has (nothing)'],
    ['BM.GPU.RTXPRO.8', 'the feed does not say how many OCPUs it has (nothing)'],
  ])('leaves out %s: %s', (shape, why) => {
    expect(left).toContainEqual({ shape, why })
  })

  it('offers the others', () => {
    expect(shapes.map(({ shape }) => shape)).toEqual([
      'BM.GPU.H100.8',
      'BM.GPU4.8',
      'BM.GPU.A100-v2.8',
      'VM.GPU3.1',
    ])
    expect(shapes.length + left.length).toBe(feed.parse(feedCopy.shapes).items.length)
  })
})

describe('what ships', () => {
  // vCPUs, GB, GPUs, price of the machine in cents.
  it.each([
    ['VM.GPU.A10.1', 30, 240, 1, 'A10', 24, 200],
    ['BM.GPU.A10.4', 128, 1024, 4, 'A10', 24, 800],
    ['BM.GPU4.8', 128, 2048, 8, 'A100', 40, 2440],
    ['BM.GPU.A100-v2.8', 256, 2048, 8, 'A100', 80, 3200],
    ['BM.GPU.L40S.4', 224, 1024, 4, 'L40S', 48, 1400],
    ['BM.GPU.H100.8', 224, 2048, 8, 'H100', 80, 8000],
    ['BM.GPU.H200.8', 224, 3072, 8, 'H200', 141, 8000],
    ['VM.GPU3.1', 12, 90, 1, 'V100', 16, 295],
  ])('%s: %i vCPUs of x86, %i GB, %i x %s of %i GB, %i cents', (...row) => {
    const [shape, cpus, memoryGb, count, name, gpuGb, priceCents] = row
    expect(shipped.find((each) => each.shape === shape)).toEqual({
      shape,
      cpu: { arch: 'x86', count: cpus },
      memoryGb,
      gpu: { name, memoryGb: gpuGb, count },
      priceCents,
      priceMicros: priceCents * 10_000,
      preemptible: shape === 'VM.GPU3.1',
    })
  })

  it('bills a shape without GPUs by its OCPUs and its memory, a part of a cent as a whole one', () => {
    expect(shipped.find(({ shape }) => shape === 'BM.Standard.E4.128')).toEqual({
      shape: 'BM.Standard.E4.128',
      cpu: { arch: 'x86', count: 256 },
      memoryGb: 2048,
      gpu: null,
      // 128 x 0.025 + 2048 x 0.0015 = 6.272 dollars.
      priceCents: 628,
      priceMicros: 6_272_000,
      preemptible: false,
    })
  })

  it('is what its maker makes', () => {
    expect(JSON.parse(readFileSync(shippedFile, 'utf8'))).toEqual(makeShippedCatalogue())
  })
})

describe('one bad row never costs another', () => {
  const rows = z.array(z.record(z.string(), z.json()))
  const good = rows.parse(feed.parse(feedCopy.shapes).items)
  const h100 = good.find(({ name }) => name === 'BM.GPU.H100.8') ?? {}
  const product = (changes: object) => ({
    partNumber: 'X1',
    billingModel: 'UCM',
    pricetype: 'HOUR',
    currencyCodeLocalizations: [{ currencyCode: 'USD', prices: [{ model: 'PAY_AS_YOU_GO', value: 7 }] }],
    ...changes,
  })
  const priced = (currencyCode: string, ...prices: object[]) => ({
    currencyCodeLocalizations: [{ currencyCode, prices }],
  })
  const x1 = (qty: unknown, type = 'ocpu') => [{ partNumber: 'X1', qty, type: { value: type } }]
  const judge = (shape: unknown, extra: object = {}) =>
    judgeFeeds(
      { items: [shape, ...good] },
      { items: [...feed.parse(feedCopy.products).items, product(extra), 'nonsense', { partNumber: 7 }] },
    )

  it.each<[string, object, object, string]>([
    ['a fraction of an OCPU', { products: x1(81.6) }, {}, 'how many OCPUs it has (81.6)'],
    ['no quantity', { products: x1(null) }, {}, 'how many OCPUs it has (nothing)'],
    [
      'a missing product',
      { products: [{ ...x1(8)[0], partNumber: 'Z9' }] },
      {},
      'product Z9 is not in the feed',
    ],
    ['no product at all', { products: [] }, {}, 'how many OCPUs'],
    [
      'a price in euro alone',
      { products: x1(8) },
      priced('EUR', { model: 'PAY_AS_YOU_GO', value: 1 }),
      'US dollars',
    ],
    [
      'two prices',
      { products: x1(8) },
      priced('USD', ...[1, 2].map((value) => ({ model: 'A', value }))),
      '2 prices',
    ],
    ['no price', { products: x1(8) }, priced('USD'), '0 prices, not one'],
    [
      'a price of nothing',
      { products: x1(8) },
      priced('USD', { model: 'PAY_AS_YOU_GO', value: 0 }),
      'the price 0',
    ],
    [
      'a commitment',
      { products: x1(8) },
      priced('USD', { model: 'MONTHLY', value: 1 }),
      'no pay-as-you-go price',
    ],
    ['a monthly price', { products: x1(8) }, { pricetype: 'MONTH' }, 'priced by MONTH'],
    ['another way to bill', { products: x1(8) }, { billingModel: 'BYOL' }, 'billed by BYOL'],
    [
      'a cost that is not understood',
      { products: [...x1(8), ...x1(4, 'disk')] },
      {},
      'also billed by "disk"',
    ],
    ['a hidden row', { hidden: true }, {}, 'it is hidden'],
    ['a row that is not active', { status: 'EOL' }, {}, 'its status is EOL'],
    ['a database', { shapeType: { value: 'db' } }, {}, 'of the type db'],
    ['a flexible shape', { name: 'VM.Standard3.Flex' }, {}, 'needs a choice of size'],
    ['an arm shape', { name: 'BM.Standard.A1.160' }, {}, 'the images are x86-64'],
    ['a family that nobody looked at', { name: 'BM.GPU.Z1000.8' }, {}, 'not on the list'],
    ['no memory', { bundleMemoryQty: null }, {}, 'how much memory'],
    ['half a GPU', { gpuQty: 0.5 }, {}, 'how many GPUs it has (0.5)'],
    ['words for a number', { gpuQty: 'eight' }, {}, "can't be read: gpuQty"],
    ['no type', { subType: null }, {}, "can't be read: subType"],
    ['more OCPUs than there are', { products: x1(1e300) }, {}, 'no shape that can be: cpu.count'],
    [
      'a price that is no money',
      { products: x1(8) },
      priced('USD', { model: 'PAY_AS_YOU_GO', value: 1e200 }),
      'no shape that can be: priceCents',
    ],
  ])('%s', (_, changes, extra, why) => {
    const judged = judge({ ...h100, name: 'BM.GPU.H100.9', ...changes }, extra)
    expect(judged.shapes).toEqual(shapes)
    const added = judged.left.filter((row) => !left.some((known) => known.shape === row.shape))
    expect(added).toEqual([{ shape: expect.any(String), why: expect.stringContaining(why) }])
  })

  it.each([null, 'nonsense', 7, [], { name: 'nothing else' }])('%o for a row', (row) => {
    expect(judge(row).shapes).toEqual(shapes)
    expect(judge(row).left).toHaveLength(left.length + 1)
  })

  it('offers a name that comes twice once', () => {
    const judged = judge({ ...h100, name: 'BM.GPU.H100.8 (new)' })
    expect(judged.shapes.filter(({ shape }) => shape === 'BM.GPU.H100.8')).toHaveLength(1)
    expect(judged.left).toContainEqual({ shape: 'BM.GPU.H100.8', why: 'another row has the same name' })
  })

  it('has a price for a product that is listed twice with the same one', () => {
    const items = feed.parse(feedCopy.products).items
    expect(judgeFeeds(feedCopy.shapes, { items: [...items, ...items] }).shapes).toEqual(shapes)
  })

  it('has none for a product that is listed with two', () => {
    const named = { name: 'BM.GPU.H100.9', products: x1(8) }
    const two = [product({}), product(priced('USD', { model: 'PAY_AS_YOU_GO', value: 8 }))]
    expect(judgeFeeds({ items: [{ ...h100, ...named }] }, { items: two })).toEqual({
      shapes: [],
      left: [{ shape: 'BM.GPU.H100.9', why: 'X1 is listed with 2 prices' }],
    })
  })

  it.each(['before', 'after'])('goes by the usable row of a product that has a bad one %s it', (where) => {
    const named = { name: 'BM.GPU.H100.9', products: x1(8) }
    const bad = product(priced('EUR', { model: 'PAY_AS_YOU_GO', value: 1 }))
    const items = where === 'before' ? [bad, product({})] : [product({}), bad]
    expect(judgeFeeds({ items: [{ ...h100, ...named }] }, { items }).shapes).toMatchObject([
      { priceCents: 5600 },
    ])
  })
})

describe('names', () => {
  it.each([
    ['VM.GPU2.1', 'P100'],
    ['BM.GPU3.8', 'V100'],
    ['BM.GPU4.8', 'A100'],
    ['BM.GPU.B4.8', 'A100'],
    ['BM.GPU.A100-v2.8', 'A100'],
    ['VM.GPU.A10.2', 'A10'],
    ['BM.GPU.B200.8', 'B200'],
    ['BM.GPU.GB200.4', 'GB200'],
    ['BM.Standard.A1.160', undefined],
    ['BM.Standard.E4.128', undefined],
  ])('%s has %s', (shape, name) => {
    expect(gpuNameOf(shape)).toBe(name)
  })

  it.each([
    ['VM.GPU2.1', 'left'],
    ['VM.Standard.E4.Flex', 'left'],
    ['VM.Standard2.24', 'offered'],
    ['BM.Optimized3.36', 'offered'],
    ['BM.GPU.A10.4', 'offered'],
    ['BM.GPU.B200.8', 'experimental'],
    ['BM.GPU.GB200.4', 'left'],
  ])('%s is %s', (shape, is) => {
    expect(familyOf(shape).is).toBe(is)
  })

  // Every family that the documentation of shapes has, and what becomes of it.
  it.each([
    ['VM.Standard2.1', 'offered'],
    ['BM.Standard2.52', 'offered'],
    ['BM.Standard3.64', 'offered'],
    ['BM.Standard.E3.128', 'offered'],
    ['BM.Standard.E4.128', 'offered'],
    ['BM.Standard.E5.192', 'offered'],
    ['BM.Optimized3.36', 'offered'],
    ['VM.GPU3.4', 'offered'],
    ['BM.GPU3.8', 'offered'],
    ['BM.GPU4.8', 'offered'],
    ['BM.GPU.B4.8', 'offered'],
    ['VM.GPU.A10.2', 'offered'],
    ['BM.GPU.A10.4', 'offered'],
    ['BM.GPU.A100-v2.8', 'offered'],
    ['BM.GPU.L40S.4', 'offered'],
    ['BM.GPU.H100.8', 'offered'],
    ['BM.GPU.H200.8', 'offered'],
    ['BM.GPU.B200.8', 'experimental'],
    ['BM.GPU.B300.8', 'experimental'],
    ['BM.GPU.RTXPRO.8', 'experimental'],
    ['VM.Standard.E5.Flex', 'a flexible shape needs a choice of size'],
    ['VM.Optimized3.Flex', 'a flexible shape needs a choice of size'],
    ['BM.Standard.A1.160', 'Ampere hosts are arm64, the images are x86-64'],
    ['BM.GPU.MI300X.8', 'no ROCm image is published for AMD Instinct'],
    ['BM.GPU.MI355X.8', 'no ROCm image is published for AMD Instinct'],
    ['BM.GPU.GB200.4', 'Grace superchips are arm64 hosts, the images are x86-64'],
    ['BM.GPU.GB300.4', 'Grace superchips are arm64 hosts, the images are x86-64'],
    ['BM.DenseIO.E5.128', 'its family is not on the list of those that are offered'],
  ])('%s: %s', (shape, expected) => {
    const family = familyOf(shape)
    expect(family.is === 'left' ? family.why : family.is).toBe(expected)
  })

  it.each([
    ['V100', 'dstack-cuda-0.10'],
    ['P100', 'dstack-cuda-0.10'],
    ['A10', 'dstack-cuda-0.14'],
    ['A100', 'dstack-cuda-0.14'],
    ['H200', 'dstack-cuda-0.14'],
    ['B200', 'dstack-cuda-0.14'],
    [null, 'dstack-0.14'],
  ])('a machine with %s boots %s', (gpuName, listing) => {
    expect(listingOf(gpuName, '0.14')).toBe(listing)
  })
})
