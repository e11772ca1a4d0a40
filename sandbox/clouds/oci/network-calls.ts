import * as z from 'zod'
import { bodyOf, type Call, fits, type Handler, needed, pageOf, type Reply } from './call.ts'
import { cidr, contains, overlap } from './cidr.ts'
import { freeformTags } from './launch.ts'
import type { Network, NetworkKind } from './network.ts'
import type { Operation } from './operations.ts'
import type { Places } from './places.ts'
import { invalid, Refusal } from './refusal.ts'
import type { RetryTokens } from './retry-tokens.ts'
import type { Switches } from './switches.ts'

/** VCNs and what is in them. Display names may come twice, as with the real one: whoever looks by name must cope. */
export const createNetworkCalls = (parts: {
  places: Places
  network: Network
  retryTokens: RetryTokens
  switches: Switches
}) => {
  const { places, network, retryTokens, switches } = parts

  const show = (call: Call, kind: NetworkKind, id: string): Reply => ({
    body: network.body(network.find(call, kind, id)),
  })

  const get =
    (kind: NetworkKind): Handler =>
    (call) =>
      show(call, kind, Object.values(call.names)[0] ?? '')

  const list =
    (kind: NetworkKind): Handler =>
    (call) => {
      const compartment = places.compartment(call.caller, needed(call, 'compartmentId'))
      const rows = network
        .listed(kind, call.region)
        .filter(
          (row) => row.compartmentId === compartment.id && (kind === 'vcn' || fits(call, 'vcnId', row.vcnId)),
        )
        .map((row) => network.body(row))
        .filter(
          (row) =>
            fits(call, 'displayName', row.displayName) && fits(call, 'lifecycleState', row.lifecycleState),
        )
      return pageOf(call, rows, switches)
    }

  /** Makes one thing, or shows the one that the same retry token made. */
  const create =
    (kind: NetworkKind, make: (call: Call) => string): Handler =>
    (call) =>
      show(
        call,
        kind,
        retryTokens.once(call, () => make(call)),
      )

  const createVcn = create('vcn', (call) => {
    const { cidrBlock, cidrBlocks, dnsLabel, ...asked } = bodyOf(call, vcnDetails)
    places.compartment(call.caller, asked.compartmentId)
    const blocks = cidrBlocks ?? (cidrBlock === undefined ? [] : [cidrBlock])
    const [first] = blocks
    if (first === undefined) throw invalid('cidrBlocks: must be provided')
    const vcn = network.make('vcn', call.region, asked, {
      cidrBlock: first,
      cidrBlocks: blocks,
      ...label(dnsLabel),
    })
    const within = { compartmentId: asked.compartmentId, vcnId: vcn.id }
    const named = (what: string) => ({ ...within, displayName: `Default ${what} for ${vcn.displayName}` })
    const table = network.make('routeTable', call.region, named('Route Table'), { routeRules: [] })
    const security = network.make('securityList', call.region, named('Security List'), defaultSecurity)
    vcn.details.defaultRouteTableId = table.id
    vcn.details.defaultSecurityListId = security.id
    return vcn.id
  })

  const createInternetGateway = create('internetGateway', (call) => {
    const { isEnabled, ...asked } = bodyOf(call, gatewayDetails)
    places.compartment(call.caller, asked.compartmentId)
    const vcn = network.usableVcn(call, asked.vcnId)
    if (network.listed('internetGateway', call.region).some(({ vcnId }) => vcnId === vcn.id)) {
      throw new Refusal(409, 'Conflict', `The VCN ${vcn.id} already has an internet gateway.`)
    }
    return network.make('internetGateway', call.region, asked, { isEnabled }).id
  })

  const createSubnet = create('subnet', (call) => {
    const { cidrBlock, routeTableId, securityListIds, dnsLabel, prohibitPublicIpOnVnic, ...asked } = bodyOf(
      call,
      subnetDetails,
    )
    places.compartment(call.caller, asked.compartmentId)
    const vcn = network.usableVcn(call, asked.vcnId)
    const blocks = z.array(z.string()).parse(vcn.details.cidrBlocks)
    if (!blocks.some((block) => contains(block, cidrBlock))) {
      throw invalid(`The requested CIDR ${cidrBlock} is invalid: it is not contained in its VCN`)
    }
    const clash = network
      .listed('subnet', call.region)
      .find(({ vcnId, details }) => vcnId === vcn.id && overlap(String(details.cidrBlock), cidrBlock))
    if (clash)
      throw invalid(`The requested CIDR ${cidrBlock} is invalid: subnet ${clash.id} overlaps with this CIDR`)
    const tableId = routeTableId ?? z.string().parse(vcn.details.defaultRouteTableId)
    network.find(call, 'routeTable', tableId)
    return network.make('subnet', call.region, asked, {
      cidrBlock,
      routeTableId: tableId,
      securityListIds: securityListIds ?? [z.string().parse(vcn.details.defaultSecurityListId)],
      prohibitPublicIpOnVnic,
      prohibitInternetIngress: prohibitPublicIpOnVnic,
      virtualRouterIp: cidrBlock.replace(/\d+\/\d+$/, '1'),
      virtualRouterMac: '00:00:17:00:00:01',
      ...label(dnsLabel),
    }).id
  })

  const updateRouteTable: Handler = (call) => {
    const table = network.find(call, 'routeTable', call.names.rtId ?? '')
    const { routeRules } = bodyOf(call, routeTableDetails)
    const destinations = (routeRules ?? []).map(({ destination }) => destination)
    if (new Set(destinations).size < destinations.length)
      throw invalid('routeRules: a destination comes twice')
    for (const { networkEntityId } of routeRules ?? []) {
      const gateway = network.find(call, 'internetGateway', networkEntityId)
      if (gateway.vcnId !== table.vcnId) throw invalid('routeRules: the gateway is of another VCN')
    }
    if (routeRules) table.details.routeRules = routeRules
    return show(call, 'routeTable', table.id)
  }

  const createGroup = create('networkSecurityGroup', (call) => {
    const asked = bodyOf(call, groupDetails)
    places.compartment(call.caller, asked.compartmentId)
    network.usableVcn(call, asked.vcnId)
    return network.make('networkSecurityGroup', call.region, asked, {}).id
  })

  return {
    createVcn,
    listVcns: list('vcn'),
    getVcn: get('vcn'),
    createInternetGateway,
    listInternetGateways: list('internetGateway'),
    getInternetGateway: get('internetGateway'),
    listRouteTables: list('routeTable'),
    getRouteTable: get('routeTable'),
    updateRouteTable,
    createSubnet,
    listSubnets: list('subnet'),
    getSubnet: get('subnet'),
    createNetworkSecurityGroup: createGroup,
    listNetworkSecurityGroups: list('networkSecurityGroup'),
    getNetworkSecurityGroup: get('networkSecurityGroup'),
    listSecurityLists: list('securityList'),
  } satisfies Partial<Record<Operation, Handler>>
}

/** What a new VCN lets through: SSH from anywhere in, everything out. */
const defaultSecurity = {
  ingressSecurityRules: [
    {
      source: '0.0.0.0/0',
      protocol: '6',
      isStateless: false,
      tcpOptions: { destinationPortRange: { min: 22, max: 22 } },
    },
  ],
  egressSecurityRules: [{ destination: '0.0.0.0/0', protocol: 'all', isStateless: false }],
}

const label = (dnsLabel: string | undefined): Record<string, string> =>
  dnsLabel === undefined ? {} : { dnsLabel }

const every = {
  compartmentId: z.string(),
  displayName: z.string().min(1).max(255).optional(),
  freeformTags,
}

/** A letter first, then letters and digits, 15 at most. */
const dnsLabel = z
  .string()
  .regex(/^[a-zA-Z][a-zA-Z0-9]{0,14}$/)
  .optional()

const vcnDetails = z.object({
  ...every,
  cidrBlock: cidr.optional(),
  cidrBlocks: z.array(cidr).min(1).optional(),
  dnsLabel,
})

const gatewayDetails = z.object({ ...every, vcnId: z.string(), isEnabled: z.boolean() })

const subnetDetails = z.object({
  ...every,
  vcnId: z.string(),
  cidrBlock: cidr,
  dnsLabel,
  routeTableId: z.string().optional(),
  securityListIds: z.array(z.string()).optional(),
  prohibitPublicIpOnVnic: z.boolean().default(false),
})

const routeTableDetails = z.object({
  routeRules: z
    .array(
      z.object({
        networkEntityId: z.string(),
        destination: z.string(),
        destinationType: z.enum(['CIDR_BLOCK', 'SERVICE_CIDR_BLOCK']),
      }),
    )
    .optional(),
})

const groupDetails = z.object({ ...every, vcnId: z.string() })
