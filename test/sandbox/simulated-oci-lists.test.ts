import { models } from 'oci-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Call, pageOf } from '../../sandbox/clouds/oci/call.ts'
import { defaultSwitches } from '../../sandbox/clouds/oci/switches.ts'
import { domains, frankfurt, type OciStage, refusalOf, setUpOci } from './oci-stage.ts'

const shapesOf = ['VM.Standard2.1', 'VM.GPU.A10.1', 'VM.GPU.A10.2', 'BM.GPU.A10.4', 'BM.GPU.H100.8']
const row = { region: frankfurt, domain: 1, limit: 2, onDemand: 1, preemptible: 1 }
const stock = [
  ...shapesOf.map((shape) => ({ ...row, shape })),
  { ...row, domain: 2, shape: 'BM.GPU.H200.8' },
  { ...row, domain: 2, shape: 'BM.GPU.L40S.4', limit: 0 },
]
const { AvailabilityStatus } = models.CapacityReportShapeAvailability
const [domain1 = '', domain2 = ''] = domains

let stage: OciStage
let compartmentId: string

beforeEach(async () => {
  stage = await setUpOci({ stock })
  compartmentId = stage.cloud.compartmentId
})
afterEach(() => stage.tearDown())

const shapesIn = async (availabilityDomain: string, filter: { limit?: number; page?: string } = {}) => {
  const { compute } = stage.clients()
  const answer = await compute.listShapes({ compartmentId, availabilityDomain, ...filter })
  return { names: answer.items.map(({ shape }) => shape), next: answer.opcNextPage }
}

describe('the shapes of a domain', () => {
  it('are those that the tenancy has a quota for', async () => {
    expect((await shapesIn(domain1)).names).toEqual(shapesOf)
    expect((await shapesIn(domain2)).names).toEqual(['BM.GPU.H200.8'])
  })

  it('say what they have', async () => {
    const { items } = await stage.clients().compute.listShapes({ compartmentId, shape: 'BM.GPU.H100.8' })
    expect(items).toMatchObject([{ ocpus: 112, memoryInGBs: 2048, gpus: 8, isFlexible: false }])
  })

  it('in no domain are refused', async () => {
    expect(await refusalOf(shapesIn('kIdk:EU-FRANKFURT-1-AD-4'))).toMatchObject({
      status: 400,
      code: 'InvalidParameter',
    })
  })
})

describe('a list', () => {
  const allShapes = async () => {
    const pages: string[][] = []
    for (let page: string | undefined, n = 0; n === 0 || page; n += 1) {
      const { names, next } = await shapesIn(domain1, page ? { page } : {})
      pages.push(names)
      page = next
    }
    return pages
  }

  it('comes in pages of so many as are asked for', async () => {
    const first = await shapesIn(domain1, { limit: 3 })
    expect(first.names).toEqual(shapesOf.slice(0, 3))
    const second = await shapesIn(domain1, { limit: 3, page: first.next })
    expect(second).toEqual({ names: shapesOf.slice(3), next: undefined })
  })

  it('can be made to come in small pages', async () => {
    stage.cloud.switches.pageSize.listShapes = 2
    expect((await allShapes()).map((page) => page.length)).toEqual([2, 2, 1])
  })

  it('can be made to begin with an empty page', async () => {
    stage.cloud.switches.emptyFirstPage.add('listShapes')
    expect(await allShapes()).toEqual([[], shapesOf])
  })

  it('refuses a token that is not its own, and a limit that is none', async () => {
    const { next } = await shapesIn(domain1, { limit: 1 })
    const { compute } = stage.clients()
    for (const wrong of [{ page: 'nonsense' }, { limit: -1 }]) {
      expect(await refusalOf(shapesIn(domain1, wrong))).toMatchObject({
        status: 400,
        code: 'InvalidParameter',
      })
    }
    expect(await refusalOf(compute.listInstances({ compartmentId, page: next }))).toMatchObject({
      status: 400,
    })
  })

  it('has a hundred rows on a page at most', () => {
    const call = {
      operation: 'listShapes',
      query: new URLSearchParams({ limit: '500' }),
    } satisfies Partial<Call>
    const rows = Array.from({ length: 130 }, (_, n) => n)
    const reply = pageOf({ ...noCall, ...call }, rows, defaultSwitches())
    expect(reply.body).toHaveLength(100)
    expect(reply.headers).toHaveProperty('opc-next-page')
  })
})

const noCall: Call = {
  operation: 'listShapes',
  caller: { userId: '', tenancyId: '' },
  region: frankfurt,
  names: {},
  query: new URLSearchParams(),
  body: undefined,
  retryToken: undefined,
}

describe('a capacity report', () => {
  const report = async (names: string[], availabilityDomain = domain1) => {
    const shapeAvailabilities = names.map((instanceShape) => ({ instanceShape }))
    const answer = await stage.clients().compute.createComputeCapacityReport({
      createComputeCapacityReportDetails: { compartmentId, availabilityDomain, shapeAvailabilities },
    })
    return answer.computeCapacityReport.shapeAvailabilities
  }
  const setOnDemand = (onDemand: number) =>
    stage.cloud.setStock(stage.cloud.stock().map((spot) => ({ ...spot, onDemand })))

  it('says of each shape whether it is there', async () => {
    expect(await report(['VM.GPU.A10.1', 'BM.GPU.H200.8'])).toMatchObject([
      { instanceShape: 'VM.GPU.A10.1', availabilityStatus: AvailabilityStatus.Available, availableCount: 1 },
      { availabilityStatus: AvailabilityStatus.HardwareNotSupported, availableCount: null },
    ])
    setOnDemand(0)
    expect(await report(['VM.GPU.A10.1'])).toMatchObject([
      { availabilityStatus: AvailabilityStatus.OutOfHostCapacity, availableCount: null },
    ])
  })

  it('takes ten shapes, and no more', async () => {
    expect(await report(Array.from({ length: 10 }, (_, n) => `VM.${n}`))).toHaveLength(10)
    const tooMany = Array.from({ length: 11 }, (_, n) => `VM.${n}`)
    expect(await refusalOf(report(tooMany))).toMatchObject({ status: 400, code: 'InvalidParameter' })
  })

  it('counts no bare metal, or everything, or nothing', async () => {
    expect(await report(['BM.GPU.H100.8'])).toMatchObject([{ availableCount: null }])
    stage.cloud.switches.capacityCounts = 'all'
    expect(await report(['BM.GPU.H100.8'])).toMatchObject([{ availableCount: 1 }])
    stage.cloud.switches.capacityCounts = 'none'
    expect(await report(['VM.GPU.A10.1'])).toMatchObject([{ availableCount: null }])
  })

  it('can be made to lie, both ways', async () => {
    stage.cloud.switches.capacityReportsLie = true
    const there = await report(['VM.GPU.A10.1'])
    expect(there).toMatchObject([{ availabilityStatus: AvailabilityStatus.OutOfHostCapacity }])
    setOnDemand(0)
    const absent = await report(['VM.GPU.A10.1'])
    expect(absent).toMatchObject([{ availabilityStatus: AvailabilityStatus.Available }])
  })

  it('is given by the names of the compartment’s tenancy', async () => {
    expect(await refusalOf(report(['VM.GPU.A10.1'], domain1.replace('kIdk', 'qXyz')))).toMatchObject({
      status: 404,
      code: 'NotAuthorizedOrNotFound',
    })
  })
})
