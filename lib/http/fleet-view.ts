import type { KnownFleet } from '../lifecycle/apply-fleet.ts'
import { type FleetPlan, whenItGoes } from '../lifecycle/fleet-plan.ts'
import { isLive, nodeName, type Standing, standingOf } from '../lifecycle/fleet-standing.ts'
import type { Fleet } from '../model/fleet.ts'
import type { Instance } from '../model/instance.ts'
import { toDollars } from '../model/money.ts'
import { formatRequirements } from '../model/requirements.ts'
import { formatSpan } from '../model/span.ts'
import type { FleetAnswer, PlanAnswer } from './fleet-answers.ts'
import { offerView } from './offer-view.ts'

/** A fleet as the API shows it: what it is to be, what it has, and why something is missing. */
export const fleetView = ({ fleet, nodes }: KnownFleet, now: number): FleetAnswer => {
  const standing = standingOf(fleet, nodes)
  const live = [...standing.kept, ...standing.surplus]
  const missing = standing.missing + standing.heldBack
  return {
    name: fleet.name,
    status: fleet.status,
    version: fleet.version,
    createdAt: iso(fleet.createdAt),
    createdBy: fleet.createdBy,
    deletedAt: iso(fleet.deletedAt),
    spec: specView(fleet),
    desired: fleet.status === 'active' ? fleet.desired : 0,
    missing,
    missingBecause: missing > 0 ? whyMissing(fleet, standing, now) : null,
    retryAt: missing > 0 && (fleet.failure?.retryAt ?? 0) > now ? iso(fleet.failure?.retryAt) : null,
    pricePerHour: toDollars(live.reduce((sum, node) => sum + (node.pricePerHourCents ?? 0), 0)),
    nodes: fleet.nodes.flatMap(({ n, instanceId }) => {
      const node = nodes.get(instanceId)
      if (!node) return []
      const isGoing = !isLive(node) || standing.surplus.includes(node) || fleet.status === 'deleting'
      return [nodeView(fleet, n, node, isGoing ? whenItGoes(node, now) : null)]
    }),
  }
}

export const planView = (plan: FleetPlan, now: number): PlanAnswer => ({
  action: plan.action,
  create: plan.create.map(({ name, offer }) => {
    if (!offer) return { name, offer: null }
    const { payload: _, ...shown } = offer
    return { name, offer: offerView(shown) }
  }),
  keep: plan.keep.map((node) => shortView(node)),
  remove: plan.remove.map(({ instance, message }) => ({
    ...shortView(instance),
    reservedUntil: iso(prepaidUntil(instance, now)),
    message,
  })),
  pricePerHour: toDollars(plan.pricePerHourCents),
  minimumCharge: toDollars(plan.minimumChargeCents),
  totalPerHour: toDollars(plan.totalPerHourCents),
  messages: plan.messages,
  errors: plan.errors,
})

const specView = ({ spec: { nodes, wanted, idleDuration } }: Fleet) => ({
  nodes: { min: nodes.min, target: nodes.target, max: nodes.max ?? null },
  resources: formatRequirements(wanted.requirements),
  backends: wanted.backends ?? null,
  regions: wanted.regions ?? null,
  instanceTypes: wanted.instanceTypes ?? null,
  spotPolicy: wanted.spotPolicy,
  maxPrice: wanted.maxPriceCents === undefined ? null : toDollars(wanted.maxPriceCents),
  idleDuration: formatSpan(idleDuration),
})

const whyMissing = ({ failure }: Fleet, { missing }: Standing, now: number): string => {
  if (missing === 0)
    return 'nodes that are given back must be gone first, since there may be no more than max'
  if (!failure) return 'it is asked for within a minute'
  if (failure.retryAt > now) return `${failure.message}; tried again at ${iso(failure.retryAt)}`
  return `${failure.message}; it is tried again now`
}

const nodeView = (fleet: Fleet, n: number, node: Instance, givenBack: string | null) => ({
  n,
  ...shortView(node),
  name: nodeName(fleet, n),
  idleSince: iso(node.idleSince),
  reservedUntil: iso(node.reservation?.until),
  releaseAt: iso(node.releaseAt),
  message: givenBack ?? node.events.at(-1)?.message ?? null,
})

const shortView = (node: Instance) => ({
  name: node.name,
  instanceId: node.id,
  status: node.status,
  phase: node.phase ?? null,
  backend: node.backend ?? null,
  region: node.region ?? null,
  instanceType: node.instanceType ?? null,
  holder: node.claim?.holder ?? null,
  pricePerHour: node.pricePerHourCents === undefined ? null : toDollars(node.pricePerHourCents),
})

const prepaidUntil = ({ reservation }: Instance, now: number): number | undefined =>
  reservation && reservation.until > now ? reservation.until : undefined

const iso = (time: number | undefined) => (time === undefined ? null : new Date(time).toISOString())
