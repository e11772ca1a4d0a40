import { createHash } from 'node:crypto'
import { type Answer, after, ok } from './answer.ts'
import type { Api } from './api.ts'
import { ensureNamed } from './named.ts'
import { ensureRules } from './security-rules.ts'

/** The name of every part. */
const displayName = 'berth'
const addresses = '10.0.0.0/16'
const anywhere = '0.0.0.0/0'

export type Network = { subnetId: string; groupId: string }

type Place = { region: string; compartmentId: string }

/** The network of a region, found or made part by part; done again, it changes nothing that is right. */
export const ensureNetwork = async (api: Api, place: Place): Promise<Answer<Network>> =>
  after(await ensureVcn(api, place), async (vcn) =>
    after(await ensureRouteOut(api, place, vcn), async () =>
      after(await ensureSubnet(api, place, vcn.id), async (subnet) =>
        after(await ensureGroup(api, place, vcn.id), async (group) =>
          after(await ensureRules(api, place.region, group.id), () =>
            ok({ subnetId: subnet.id, groupId: group.id }),
          ),
        ),
      ),
    ),
  )

const ensureVcn = (api: Api, { region, compartmentId }: Place) =>
  ensureNamed(api, region, `the network "${displayName}"`, {
    token: tokenOf('vcn', compartmentId),
    list: ({ network }, page) => network.listVcns({ compartmentId, displayName, ...page }),
    make: async ({ network }, token) =>
      (
        await network.createVcn({
          createVcnDetails: { compartmentId, displayName, cidrBlocks: [addresses] },
          ...token,
        })
      ).vcn,
  })

const ensureRouteOut = async (
  api: Api,
  { region, compartmentId }: Place,
  vcn: { id: string; defaultRouteTableId?: string },
): Promise<Answer<void>> => {
  // A VCN has one at most, whatever its name.
  const gateway = await ensureNamed(api, region, 'the internet gateway', {
    token: tokenOf('gateway', vcn.id),
    list: ({ network }, page) => network.listInternetGateways({ compartmentId, vcnId: vcn.id, ...page }),
    make: async ({ network }, token) => {
      const createInternetGatewayDetails = { compartmentId, displayName, vcnId: vcn.id, isEnabled: true }
      return (await network.createInternetGateway({ createInternetGatewayDetails, ...token })).internetGateway
    },
  })
  return after(gateway, ({ id }) =>
    api.ask('the default route', region, async ({ network, models }) => {
      const rtId = vcn.defaultRouteTableId ?? ''
      const { routeRules } = (await network.getRouteTable({ rtId })).routeTable
      if (
        routeRules.some(
          ({ destination, networkEntityId }) => destination === anywhere && networkEntityId === id,
        )
      )
        return
      const others = routeRules.filter(({ destination }) => destination !== anywhere)
      const destinationType = models.RouteRule.DestinationType.CidrBlock
      const ours = { destination: anywhere, destinationType, networkEntityId: id }
      await network.updateRouteTable({ rtId, updateRouteTableDetails: { routeRules: [...others, ours] } })
    }),
  )
}

const ensureSubnet = (api: Api, { region, compartmentId }: Place, vcnId: string) =>
  ensureNamed(api, region, 'the subnet', {
    token: tokenOf('subnet', vcnId),
    list: ({ network }, page) => network.listSubnets({ compartmentId, vcnId, displayName, ...page }),
    make: async ({ network }, token) => {
      const createSubnetDetails = { compartmentId, vcnId, displayName, cidrBlock: addresses }
      return (await network.createSubnet({ createSubnetDetails, ...token })).subnet
    },
  })

const ensureGroup = (api: Api, { region, compartmentId }: Place, vcnId: string) =>
  ensureNamed(api, region, 'the security group', {
    token: tokenOf('group', vcnId),
    list: ({ network }, page) =>
      network.listNetworkSecurityGroups({ compartmentId, vcnId, displayName, ...page }),
    make: async ({ network }, token) => {
      const createNetworkSecurityGroupDetails = { compartmentId, vcnId, displayName }
      return (await network.createNetworkSecurityGroup({ createNetworkSecurityGroupDetails, ...token }))
        .networkSecurityGroup
    },
  })

const tokenOf = (what: string, within: string) =>
  `berth-${what}-${createHash('sha256').update(within).digest('hex').slice(0, 40)}`
