import { type Answer, after, type Failure, ok } from './answer.ts'
import type { Api } from './api.ts'

/** What a domain says of a shape that is within quota there. A hint, wrong both ways. */
type Status = 'available' | 'out' | 'unknown'

type DomainView = { name: string; shapes: Map<string, Status> }

export type RegionView = {
  domains: DomainView[]
  /** Whether a domain could not be looked at; its shapes may seem to be outside the quota. */
  isPartial: boolean
  /** Domains that could not be looked at, and reports that could not be had; what those are about stays unknown. */
  troubles: Failure[]
}

/** Most shapes that one capacity report takes. Not documented; more are refused. */
const reportSize = 10

/** Which of the shapes a compartment may rent in a region, and where there seem to be some. */
export const viewRegion = async (
  api: Api,
  where: { region: string; domains: string[]; compartmentId: string },
  shapes: string[],
): Promise<Answer<RegionView>> => {
  const views = await Promise.all(
    where.domains.map((domain) => viewDomain(api, { ...where, domain }, shapes)),
  )
  const failures = views.filter((view) => view.kind === 'failed')
  const [failure] = failures
  if (failure && failures.length === views.length) return failure
  const seen = views.flatMap((view) => (view.kind === 'ok' ? view.value : []))
  return ok({
    domains: seen,
    isPartial: failures.length > 0,
    troubles: [...failures, ...seen.flatMap(({ troubles }) => troubles)],
  })
}

type Place = { region: string; domain: string; compartmentId: string }

const viewDomain = async (
  api: Api,
  place: Place,
  shapes: string[],
): Promise<Answer<DomainView & { troubles: Failure[] }>> => {
  const { region, domain, compartmentId } = place
  const listed = await api.list(`shapes in ${domain}`, region, ({ compute }, page) =>
    compute.listShapes({
      compartmentId,
      availabilityDomain: domain,
      limit: 100,
      ...(page !== undefined && { page }),
    }),
  )
  return after(listed, async (rows) => {
    const names = new Set(rows.map(({ shape }) => shape))
    const within = shapes.filter((shape) => names.has(shape))
    const statuses = new Map<string, Status>(within.map((shape) => [shape, 'unknown']))
    const troubles: Failure[] = []
    for (let at = 0; at < within.length; at += reportSize) {
      const report = await reportOn(api, place, within.slice(at, at + reportSize))
      if (report.kind === 'failed') troubles.push(report)
      else for (const [shape, status] of report.value) apply(statuses, shape, status)
    }
    return ok({ name: domain, shapes: statuses, troubles })
  })
}

const reportOn = (api: Api, { region, domain, compartmentId }: Place, shapes: string[]) =>
  api.ask(`capacity in ${domain}`, region, async ({ compute }) => {
    const { computeCapacityReport } = await compute.createComputeCapacityReport({
      createComputeCapacityReportDetails: {
        compartmentId,
        availabilityDomain: domain,
        shapeAvailabilities: shapes.map((instanceShape) => ({ instanceShape })),
      },
    })
    return computeCapacityReport.shapeAvailabilities.map(
      ({ instanceShape = '', availabilityStatus }) => [instanceShape, String(availabilityStatus)] as const,
    )
  })

const apply = (statuses: Map<string, Status>, shape: string, said: string) => {
  if (!statuses.has(shape)) return
  if (said === 'AVAILABLE') statuses.set(shape, 'available')
  if (said === 'OUT_OF_HOST_CAPACITY') statuses.set(shape, 'out')
  if (said === 'HARDWARE_NOT_SUPPORTED') statuses.delete(shape)
}
