import * as z from 'zod'
import type { Clock } from '../../../lib/model/clock.ts'
import type { Call } from './call.ts'
import type { Places } from './places.ts'
import { incorrectState, notFound } from './refusal.ts'
import type { CloudState, NetworkResource, SimulatedInstance } from './state.ts'
import { timeBody } from './wire.ts'

export type NetworkKind = NetworkResource['kind']

export type Network = ReturnType<typeof createNetwork>

/** The parts that networks are made of: found, made, shown. */
export const createNetwork = (parts: {
  state: CloudState
  clock: Clock
  places: Places
  networkMs: number
}) => {
  const { state, clock, places } = parts

  const listed = (kind: NetworkKind, region: string) =>
    state.network.filter((resource) => resource.kind === kind && resource.region === region)

  return {
    listed,

    /** Throws 404 for one that is not there, or not for this caller. */
    find(call: Call, kind: NetworkKind, id: string): NetworkResource {
      const found = listed(kind, call.region).find((resource) => resource.id === id)
      if (!found) throw notFound()
      places.compartment(call.caller, found.compartmentId)
      return found
    },

    /** The VCN in which something is to be made; it must be ready. */
    usableVcn(call: Call, id: string): NetworkResource {
      const vcn = this.find(call, 'vcn', id)
      if (clock.now() < vcn.availableAt) throw incorrectState('the VCN is not AVAILABLE')
      return vcn
    },

    make(
      kind: NetworkKind,
      region: string,
      asked: {
        compartmentId: string
        displayName?: string | undefined
        freeformTags?: Record<string, string>
        vcnId?: string
      },
      details: NetworkResource['details'],
    ): NetworkResource {
      const id = places.ocid(kind.toLowerCase(), region)
      const resource: NetworkResource = {
        kind,
        id,
        region,
        compartmentId: asked.compartmentId,
        vcnId: asked.vcnId ?? id,
        displayName: asked.displayName ?? `${kind.toLowerCase()}${timeBody(clock.now())}`,
        createdAt: clock.now(),
        availableAt: clock.now() + parts.networkMs,
        freeformTags: asked.freeformTags ?? {},
        details,
        securityRules: [],
      }
      state.network.push(resource)
      return resource
    },

    body: (resource: NetworkResource) => ({
      id: resource.id,
      compartmentId: resource.compartmentId,
      displayName: resource.displayName,
      freeformTags: resource.freeformTags,
      definedTags: {},
      lifecycleState: clock.now() < resource.availableAt ? 'PROVISIONING' : 'AVAILABLE',
      timeCreated: timeBody(resource.createdAt),
      ...(resource.kind === 'vcn' ? {} : { vcnId: resource.vcnId }),
      ...resource.details,
    }),

    /** Whether somebody on the internet gets through to sshd: a route to an open gateway, and a rule that lets SSH in. */
    isReachable({ region, subnetId, nsgIds }: SimulatedInstance): boolean {
      const one = (kind: NetworkKind, id: unknown) => listed(kind, region).find((row) => row.id === id)
      const subnet = linksOf.safeParse(one('subnet', subnetId)?.details).data
      const routes =
        routesOf.safeParse(one('routeTable', subnet?.routeTableId)?.details).data?.routeRules ?? []
      const leadsOut = routes.some(
        (rule) =>
          rule.destination === anywhere &&
          one('internetGateway', rule.networkEntityId)?.details.isEnabled === true,
      )
      const lists = subnet?.securityListIds.map((id) => one('securityList', id)?.details.ingressSecurityRules)
      const groups = nsgIds.flatMap((id) => one('networkSecurityGroup', id)?.securityRules ?? [])
      const fromLists = (lists ?? []).flatMap((rules) => z.array(z.unknown()).safeParse(rules).data ?? [])
      return leadsOut && [...fromLists, ...groups].some((rule) => sshRule.safeParse(rule).success)
    },
  }
}

const anywhere = '0.0.0.0/0'

const linksOf = z.object({ routeTableId: z.string(), securityListIds: z.array(z.string()) })

const routesOf = z.object({
  routeRules: z.array(
    z.object({
      destination: z.string(),
      networkEntityId: z.string(),
    }),
  ),
})

/** A rule that lets in what comes for port 22 from anywhere. Protocol 6 is TCP. */
const sshRule = z.object({
  direction: z.literal('INGRESS').optional(),
  source: z.literal(anywhere),
  protocol: z.enum(['6', 'all']),
  tcpOptions: z
    .object({
      destinationPortRange: z.object({ min: z.number().max(22), max: z.number().min(22) }).nullish(),
    })
    .nullish(),
})
