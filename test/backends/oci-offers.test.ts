import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { diskFor } from '../../lib/backends/oci/offers.ts'
import { countOf } from '../../sandbox/clouds/oci/simulated-oci.ts'
import { domain, frankfurt, type OciStage, offerOf, startOciStage } from './oci-stage.ts'

const second = 1000

let stage: OciStage
beforeEach(async () => {
  stage = await startOciStage()
})
afterEach(() => stage.cloud.stop())

const rows = (shape: string, domains: number[], changes: object = {}) =>
  domains.map((number) => ({
    region: frankfurt,
    domain: number,
    shape,
    limit: 2,
    onDemand: 2,
    preemptible: 2,
    ...changes,
  }))
const callsOf = (operation: 'listShapes' | 'createComputeCapacityReport' | 'listAvailabilityDomains') =>
  stage.cloud.requests.filter((request) => request.operation === operation)

describe('an offer', () => {
  it('names the machine, its price for a whole hour, and the domains of its region', async () => {
    expect(await offerOf(stage.backend, 'BM.GPU.H100.8')).toEqual({
      id: 'oci/eu-frankfurt-1/BM.GPU.H100.8',
      backend: 'oci',
      region: frankfurt,
      zones: [domain(1), domain(2), domain(3)],
      instanceType: 'BM.GPU.H100.8',
      resources: {
        cpu: { arch: 'x86', count: 224 },
        memoryGb: 2048,
        diskGb: 100,
        localDisks: [],
        gpu: { vendor: 'nvidia', name: 'H100', memoryGb: 80, count: 8 },
        spot: false,
      },
      pricePerHourCents: 8000,
      availability: 'available',
      minimumReservationMinutes: 0,
      minimumChargeCents: 8000,
      billing: { microsPerHour: 80_000_000, stepMs: 1000, leastMs: 3_600_000, startsAt: 'running' },
      payload: { spot: false, diskGb: 100, gpuName: 'H100', compartmentId: stage.cloud.compartmentId },
    })
  })

  it('of a preemptible machine stands beside the other, at half the price', async () => {
    const spot = await offerOf(stage.backend, 'VM.GPU3.1', { spot: true })
    const onDemand = await offerOf(stage.backend, 'VM.GPU3.1')
    expect([onDemand.pricePerHourCents, spot.pricePerHourCents]).toEqual([295, 148])
    expect(spot.billing).toMatchObject({ microsPerHour: 1_475_000, leastMs: 60_000 })
    expect(spot.id).not.toBe(onDemand.id)
    await expect(offerOf(stage.backend, 'BM.GPU.H100.8', { spot: true })).rejects.toThrow('is not among')
  })

  it('tries the domains first that say they have some', async () => {
    stage.cloud.setStock([...rows('BM.GPU.H100.8', [1], { onDemand: 0 }), ...rows('BM.GPU.H100.8', [3])])
    const offer = await offerOf(stage.backend, 'BM.GPU.H100.8')
    expect(offer).toMatchObject({ availability: 'available', zones: [domain(3), domain(1)] })
  })

  it.each([
    ['is sold out everywhere', [{ onDemand: 0 }], { availability: 'not_available', zones: [domain(1)] }],
    ['is outside the quota', [{ limit: 0 }], { availability: 'no_quota', zones: [] }],
    ['is not there', [], { availability: 'no_quota', zones: [] }],
  ])('that %s says so', async (_, changes, expected) => {
    stage.cloud.setStock(changes.flatMap((change) => rows('BM.GPU.H100.8', [1], change)))
    expect(await offerOf(stage.backend, 'BM.GPU.H100.8')).toMatchObject(expected)
  })

  it('is the same whether or not reports count what there is', async () => {
    const counted = await stage.backend.offers({})
    stage.cloud.switches.capacityCounts = 'none'
    expect(await stage.another().offers({})).toEqual(counted)
  })

  it('is not tried where a report says that the domain has no such hardware', async () => {
    const send: typeof fetch = async (url, init) => {
      const isReport = String(url).includes('computeCapacityReports')
      if (!isReport || !String(init?.body).includes('AD-1')) return fetch(url, init)
      const shapeAvailabilities = [
        {
          instanceShape: 'BM.GPU.H100.8',
          availabilityStatus: 'HARDWARE_NOT_SUPPORTED',
          availableCount: null,
        },
      ]
      return Response.json({ shapeAvailabilities })
    }
    expect((await offerOf(stage.another({}, { fetch: send }), 'BM.GPU.H100.8')).zones).toEqual([
      domain(2),
      domain(3),
    ])
  })

  it('is unknown, and can be tried, where no report can be had', async () => {
    stage.cloud.faults.always('createComputeCapacityReport', { kind: 'status', status: 429 })
    const { offers, errors } = await stage.backend.offers({})
    expect(offers.find(({ instanceType }) => instanceType === 'BM.GPU.H100.8')).toMatchObject({
      availability: 'unknown',
      zones: [domain(1), domain(2), domain(3)],
    })
    expect(errors[0]).toMatchObject({ code: 'no_answer', message: expect.stringContaining(frankfurt) })
  })

  it.each([
    [undefined, 100],
    [{ min: 500 }, 500],
    [{ min: 500, max: 600 }, 500],
    [{ min: 20 }, 50],
    [{ min: 100.5 }, 101],
    [{ max: 80 }, 80],
    [{ max: 80.5 }, 80],
    [{ max: 1000 }, 100],
    [{ min: 33_000 }, 32_768],
  ])('for a disk of %o has one of %i GB', async (wanted, diskGb) => {
    expect(diskFor(wanted)).toBe(diskGb)
  })

  it('carries the disk that is asked for to its launch', async () => {
    const { offers } = await stage.backend.offers({ diskGb: { min: 700 } })
    expect(offers[0]).toMatchObject({ resources: { diskGb: 700 }, payload: { diskGb: 700 } })
  })
})

describe('what OCI is asked', () => {
  const many = Array.from({ length: 23 }, (_, n) => `BM.GPU.H100.${n + 1}`)

  it('is three reports of at most ten shapes for 23 in a domain', async () => {
    // The simulated cloud lists the shapes that it knows; what is asked about is what is seen here.
    const listed = many.map((shape) => ({ shape }))
    const send: typeof fetch = async (url, init) => {
      if (String(url).includes('/shapes?')) return Response.json(listed)
      if (!String(url).includes('computeCapacityReports')) return fetch(url, init)
      reports.push(JSON.parse(String(init?.body)).shapeAvailabilities.length)
      return Response.json({ shapeAvailabilities: [] })
    }
    const reports: number[] = []
    const backend = stage.another(
      {},
      {
        fetch: send,
        catalogues: { get: () => catalogueOf(many, stage.clock.now()) },
      },
    )
    expect((await backend.offers({})).offers).toHaveLength(23)
    expect(reports.sort()).toEqual([10, 10, 10, 10, 10, 10, 3, 3, 3])
  })

  it('goes on past an empty page that names a next one', async () => {
    const whole = await stage.backend.offers({})
    stage.cloud.switches.emptyFirstPage = new Set(['listShapes'])
    stage.cloud.switches.pageSize = { listShapes: 5 }
    expect(await stage.another().offers({})).toEqual(whole)
  })

  it('is kept for a minute', async () => {
    await stage.backend.offers({})
    stage.clock.advance(59 * second)
    await stage.backend.offers({ diskGb: { min: 200 } })
    expect(callsOf('listShapes')).toHaveLength(3)
    stage.clock.advance(second)
    await stage.backend.offers({})
    expect(callsOf('listShapes')).toHaveLength(6)
    expect(callsOf('listAvailabilityDomains')).toHaveLength(1)
  })

  it('is asked again at once after a failure', async () => {
    stage.cloud.faults.once('listShapes', { kind: 'status', status: 500 })
    expect((await stage.backend.offers({})).errors).toMatchObject([{ code: 'no_answer' }])
    expect((await stage.backend.offers({})).errors).toEqual([])
  })

  it('is answered for the other domains where one fails', async () => {
    stage.cloud.faults.once('listShapes', { kind: 'status', status: 500 })
    expect((await offerOf(stage.backend, 'BM.GPU.H100.8')).zones).toHaveLength(2)
    stage.cloud.faults.always('listShapes', { kind: 'status', status: 500 })
    expect((await stage.another().offers({})).offers).toEqual([])
  })
})

const catalogueOf = async (shapes: string[], madeAt: number) => ({
  madeAt,
  rows: shapes.map((shape) => ({
    shape,
    cpu: { arch: 'x86', count: 8 },
    memoryGb: 8,
    gpu: null,
    priceCents: 1,
    preemptible: false,
  })),
})

describe('regions', () => {
  it('are all that have images and are subscribed to, where the settings name none', async () => {
    const { offers } = await stage.another({ regions: undefined }).offers({})
    expect(new Set(offers.map(({ region }) => region)).size).toBe(7)
  })

  it('are asked at the same time', async () => {
    const waiting: string[] = []
    let open = () => {}
    const all = new Promise<void>((resolve) => {
      open = resolve
    })
    // Nobody is answered before all three regions have asked.
    const send: typeof fetch = async (url, init) => {
      if (String(url).includes('/availabilityDomains')) {
        waiting.push(String(url))
        if (waiting.length === 3) open()
        await all
      }
      return fetch(url, init)
    }
    const regions = [frankfurt, 'uk-london-1', 'us-phoenix-1'] as const
    const { offers } = await stage.another({ regions: [...regions] }, { fetch: send }).offers({})
    expect(new Set(offers.map(({ region }) => region))).toEqual(new Set(regions))
  })

  it('that fail cost only themselves', async () => {
    const regions = [frankfurt, 'uk-london-1', 'us-phoenix-1'] as const
    const send: typeof fetch = (url, init) =>
      String(url).includes('uk-london-1') ? Promise.reject(new Error('cut')) : fetch(url, init)
    const { offers, errors } = await stage.another({ regions: [...regions] }, { fetch: send }).offers({})
    expect([...new Set(offers.map(({ region }) => region))]).toEqual([frankfurt, 'us-phoenix-1'])
    expect(errors).toEqual([
      { backend: 'oci', code: 'no_answer', message: expect.stringContaining('uk-london-1') },
    ])
  })

  it('that are not subscribed to are an error that says which, and the others are offered', async () => {
    await stage.cloud.stop()
    stage = await startOciStage({ subscribedRegions: [frankfurt] }, { regions: [frankfurt, 'eu-milan-1'] })
    const { offers, errors } = await stage.backend.offers({})
    expect([...new Set(offers.map(({ region }) => region))]).toEqual([frankfurt])
    expect(errors).toMatchObject([
      { code: 'region_not_subscribed', message: expect.stringMatching(/eu-milan-1.*not subscribed/) },
    ])
    expect(await stage.backend.check()).toMatchObject({ ok: false, state: 'bad' })
  })
})

it('an offer of a shape that nobody has booted is marked, and an old list of prices is told of', async () => {
  const b200 = {
    shape: 'BM.GPU.B200.8',
    cpu: { arch: 'x86', count: 256 },
    memoryGb: 4096,
    gpu: { name: 'B200', memoryGb: 180, count: 8 },
    priceCents: 9000,
    preemptible: false,
    experimental: true,
  }
  const eightDays = 8 * 86_400 * second
  const catalogues = { get: async () => ({ madeAt: stage.clock.now() - eightDays, rows: [b200] }) }
  const { offers, errors } = await stage.another({ experimental_shapes: true }, { catalogues }).offers({})
  expect(offers).toMatchObject([{ instanceType: 'BM.GPU.B200.8', experimental: true }])
  expect(errors).toMatchObject([{ code: 'catalogue_old' }])
  expect((await stage.another({}, { catalogues }).offers({})).offers).toEqual([])
})

it('a spot offer that is sold out leaves the other one offered', async () => {
  stage.cloud.setStock(rows('VM.GPU3.1', [1], { preemptible: 0 }))
  const { offers } = await stage.backend.offers({})
  const own = offers.filter(({ instanceType }) => instanceType === 'VM.GPU3.1')
  expect(own.map(({ availability, resources }) => [resources.spot, availability])).toEqual([
    [false, 'available'],
    [true, 'available'],
  ])
  expect(countOf(stage.cloud.requests, 'launchInstance')).toBe(0)
})
