import { describe, expect, it } from 'vitest'
import type { CataloguePort } from '../../lib/backends/backend.ts'
import { judgeFeeds } from '../../lib/backends/oci/catalogue.ts'
import { fetchFeeds } from '../../lib/backends/oci/feeds.ts'
import { knownShapes, shippedCatalogue } from '../../lib/backends/oci/known-catalogue.ts'
import type { KeptCatalogue } from '../../lib/model/catalogue.ts'
import { createManualClock } from '../fakes/manual-clock.ts'
import { feedCopy } from '../support/make-oci-catalogue.ts'

const { shapes, left } = judgeFeeds(feedCopy.shapes, feedCopy.products)
const clock = createManualClock()
const fresh: CataloguePort = { get: async () => ({ ...shippedCatalogue, madeAt: clock.now() }) }
const known = (changes: Partial<Parameters<typeof knownShapes>[0]['settings']> = {}, catalogues = fresh) =>
  knownShapes({ catalogues, clock, settings: { prices: {}, experimental_shapes: false, ...changes } })

describe('shapes that nobody has booted', () => {
  const b200 = {
    name: 'BM.GPU.B200.8',
    hidden: false,
    status: 'ACTIVE',
    bundleMemoryQty: 4096,
    gpuQty: 8,
    gpuMemoryQty: 1440,
    processorType: { value: 'blackwell' },
    shapeType: { value: 'bm' },
    subType: { value: 'gpu' },
    products: [{ partNumber: 'B98415', qty: 128, type: { value: 'ocpu' } }],
  }
  const withB200 = judgeFeeds({ items: [b200] }, feedCopy.products).shapes
  const kept = { get: async () => ({ madeAt: clock.now(), rows: withB200 }) }
  const offered = async (experimental_shapes: boolean | string[]) =>
    (await known({ experimental_shapes }, kept)).shapes.filter(({ shape }) => shape === b200.name)

  it('are offered, as such, only to those who ask', async () => {
    expect(await offered(false)).toEqual([])
    expect(await offered(['BM.GPU.RTXPRO.8'])).toEqual([])
    expect(await offered(['BM.GPU.B200.8'])).toHaveLength(1)
    expect(await offered(true)).toMatchObject([
      {
        experimental: true,
        gpu: { name: 'B200', memoryGb: 180, count: 8 },
        cpu: { arch: 'x86', count: 256 },
      },
    ])
  })
})

describe("prices of the owner's", () => {
  it('make an offer of a shape that the price list lacks', async () => {
    expect((await known()).shapes.some(({ shape }) => shape === 'BM.GPU.B4.8')).toBe(false)
    const { shapes: offered, errors } = await known({ prices: { 'BM.GPU.B4.8': 2440 } })
    expect(errors).toEqual([])
    expect(offered.find(({ shape }) => shape === 'BM.GPU.B4.8')).toEqual({
      shape: 'BM.GPU.B4.8',
      cpu: { arch: 'x86', count: 256 },
      memoryGb: 2048,
      gpu: { name: 'A100', memoryGb: 40, count: 8 },
      priceCents: 2440,
      priceMicros: 24_400_000,
      preemptible: false,
    })
  })

  it('replace a price that is listed', async () => {
    const { shapes: offered } = await known({ prices: { 'BM.GPU.H100.8': 4000 } })
    expect(offered.find(({ shape }) => shape === 'BM.GPU.H100.8')?.priceCents).toBe(4000)
  })

  it('are an error for a shape of unknown size', async () => {
    const { errors } = await known({ prices: { 'BM.GPU.H1000.8': 1 } })
    expect(errors).toMatchObject([
      { code: 'unknown_shape', message: expect.stringContaining('BM.GPU.H1000.8') },
    ])
  })
})

describe('the age of the list', () => {
  const day = 86_400_000
  const aged = (ms: number) => ({ get: async () => ({ ...shippedCatalogue, madeAt: clock.now() - ms }) })

  it('shows when it is over a week', async () => {
    expect((await known({}, aged(7 * day))).errors).toEqual([])
    const { errors, shapes: offered } = await known({}, aged(9 * day))
    expect(errors).toMatchObject([{ code: 'catalogue_old', message: expect.stringContaining('9 days ago') }])
    expect(offered.length).toBeGreaterThan(0)
  })

  it.each<[string, () => Promise<KeptCatalogue | undefined>]>([
    ['nothing is kept', async () => undefined],
    ['what is kept is older than what ships', async () => ({ madeAt: 0, rows: [] })],
    ['what is kept can not be read', async () => ({ madeAt: clock.now(), rows: [{ shape: 7 }] })],
  ])('is that of what ships when %s', async (_, get) => {
    const { shapes: offered } = await known({}, { get })
    expect(offered).toEqual(shippedCatalogue.rows)
  })

  it('does not matter when the store is silent: what ships is used, and that is said', async () => {
    const silent = { get: () => Promise.reject(new Error('no table')) }
    const { shapes: offered, errors } = await known({}, silent)
    expect(offered).toEqual(shippedCatalogue.rows)
    expect(errors).toContainEqual(expect.objectContaining({ code: 'catalogue_unreadable' }))
  })
})

describe('the feeds', () => {
  const serving =
    (answers: Record<string, unknown>): typeof fetch =>
    async (url) => {
      const name = String(url).split('/').at(-1) ?? ''
      return name in answers ? Response.json(answers[name]) : new Response('gone', { status: 404 })
    }

  it('are read from both addresses', async () => {
    const get = serving({ 'shapes.json': feedCopy.shapes, 'products.json': feedCopy.products })
    expect(await fetchFeeds({ fetch: get, clock })).toEqual({
      outcome: 'read',
      catalogue: { madeAt: clock.now(), rows: shapes },
      left: left.map(({ shape, why }) => `${shape}: ${why}`),
    })
  })

  it.each([
    ['one is missing', { 'shapes.json': feedCopy.shapes }, '404'],
    ['one is no list', { 'shapes.json': { rows: [] }, 'products.json': feedCopy.products }, 'items'],
  ])('are not read when %s', async (_, answers, why) => {
    expect(await fetchFeeds({ fetch: serving(answers), clock })).toEqual({
      outcome: 'failed',
      message: expect.stringContaining(why),
    })
  })
})
