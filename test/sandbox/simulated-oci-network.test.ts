import { models } from 'oci-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type Clients,
  defaultRoute,
  minute,
  type OciStage,
  refusalOf,
  second,
  setUpOci,
} from './oci-stage.ts'

const notFound = { status: 404, code: 'NotAuthorizedOrNotFound' }
const invalid = { status: 400, code: 'InvalidParameter' }
const { Direction, SourceType } = models.AddSecurityRuleDetails

let stage: OciStage
let clients: Clients
let compartmentId: string

beforeEach(async () => {
  stage = await setUpOci({ timings: { networkMs: 5 * second } })
  clients = stage.clients()
  compartmentId = stage.cloud.compartmentId
})
afterEach(() => stage.tearDown())

const createVcn = async (displayName = 'net') => {
  const { vcn } = await clients.network.createVcn({
    createVcnDetails: { compartmentId, cidrBlocks: ['10.0.0.0/16'], displayName },
  })
  return vcn
}
const usableVcn = async () => {
  const vcn = await createVcn()
  stage.clock.advance(5 * second)
  return vcn
}
const createGateway = async (vcnId: string) => {
  const createInternetGatewayDetails = { compartmentId, vcnId, isEnabled: true, displayName: 'gate' }
  return (await clients.network.createInternetGateway({ createInternetGatewayDetails })).internetGateway
}
const createSubnet = async (vcnId: string, cidrBlock: string) => {
  const createSubnetDetails = { compartmentId, vcnId, cidrBlock, displayName: 'sub' }
  return (await clients.network.createSubnet({ createSubnetDetails })).subnet
}

describe('a network', () => {
  it('is there after a while by the clock, with a route table and a security list', async () => {
    const vcn = await createVcn()
    expect(vcn).toMatchObject({ lifecycleState: 'PROVISIONING', cidrBlocks: ['10.0.0.0/16'] })
    expect(await refusalOf(createGateway(vcn.id))).toMatchObject({ status: 409, code: 'IncorrectState' })
    stage.clock.advance(5 * second)
    expect((await clients.network.getVcn({ vcnId: vcn.id })).vcn.lifecycleState).toBe('AVAILABLE')
    const { routeTable } = await clients.network.getRouteTable({ rtId: vcn.defaultRouteTableId ?? '' })
    expect(routeTable).toMatchObject({ vcnId: vcn.id, routeRules: [] })
    const lists = await clients.network.listSecurityLists({ compartmentId, vcnId: vcn.id })
    expect(lists.items).toMatchObject([
      { id: vcn.defaultSecurityListId, ingressSecurityRules: [{ protocol: '6' }] },
    ])
  })

  it('is found by its name, which may come twice', async () => {
    const { id } = await createVcn()
    await createVcn('other')
    const named = async (displayName: string) =>
      (await clients.network.listVcns({ compartmentId, displayName })).items.map((vcn) => vcn.id)
    expect(await named('net')).toEqual([id])
    const again = await createVcn()
    expect(await named('net')).toEqual([id, again.id])
    expect(await named('none')).toEqual([])
  })

  it('is not seen from another region, nor by another compartment’s list', async () => {
    const { id } = await createVcn()
    const { network } = stage.clients({}, 'us-phoenix-1')
    expect(await refusalOf(network.getVcn({ vcnId: id }))).toMatchObject(notFound)
    const { compartmentId: other } = stage.cloud.otherTenancy
    expect((await clients.network.listVcns({ compartmentId: other })).items).toEqual([])
  })

  it.each(['10.0.0.1/16', '10.0.0.0/40', 'x'])('with the block %s is refused', async (block) => {
    const createVcnDetails = { compartmentId, cidrBlocks: [block] }
    expect(await refusalOf(clients.network.createVcn({ createVcnDetails }))).toMatchObject(invalid)
  })
})

describe('an internet gateway', () => {
  it('is one in its network', async () => {
    const vcn = await usableVcn()
    const gateway = await createGateway(vcn.id)
    expect(await refusalOf(createGateway(vcn.id))).toMatchObject({ status: 409, code: 'Conflict' })
    const list = await clients.network.listInternetGateways({
      compartmentId,
      vcnId: vcn.id,
      displayName: 'gate',
    })
    expect(list.items).toMatchObject([{ id: gateway.id, isEnabled: true }])
    const shown = await clients.network.getInternetGateway({ igId: gateway.id })
    expect(shown.internetGateway.vcnId).toBe(vcn.id)
  })
})

describe('a route table', () => {
  const setRoutes = (rtId: string, routeRules: models.RouteRule[]) =>
    clients.network.updateRouteTable({ rtId, updateRouteTableDetails: { routeRules } })

  it('leads to the gateway of its own network', async () => {
    const vcn = await usableVcn()
    const gateway = await createGateway(vcn.id)
    const rtId = vcn.defaultRouteTableId ?? ''
    const rule = defaultRoute(gateway.id)
    expect((await setRoutes(rtId, [rule])).routeTable.routeRules).toMatchObject([rule])
    expect((await clients.network.listRouteTables({ compartmentId, vcnId: vcn.id })).items).toHaveLength(1)
    expect(await refusalOf(setRoutes(rtId, [rule, rule]))).toMatchObject(invalid)
    expect(await refusalOf(setRoutes(rtId, [defaultRoute('x')]))).toMatchObject(notFound)
    const other = await usableVcn()
    const { id } = await createGateway(other.id)
    expect(await refusalOf(setRoutes(rtId, [defaultRoute(id)]))).toMatchObject(invalid)
  })
})

describe('a subnet', () => {
  it('lies in its network and over no other', async () => {
    const vcn = await usableVcn()
    const subnet = await createSubnet(vcn.id, '10.0.0.0/24')
    expect(subnet).toMatchObject({ routeTableId: vcn.defaultRouteTableId, prohibitPublicIpOnVnic: false })
    expect(await refusalOf(createSubnet(vcn.id, '10.0.0.0/20'))).toMatchObject(invalid)
    expect(await refusalOf(createSubnet(vcn.id, '10.1.0.0/24'))).toMatchObject(invalid)
    await createSubnet(vcn.id, '10.0.1.0/24')
    const list = await clients.network.listSubnets({ compartmentId, vcnId: vcn.id })
    expect(list.items).toHaveLength(2)
    expect((await clients.network.getSubnet({ subnetId: subnet.id })).subnet.cidrBlock).toBe('10.0.0.0/24')
  })
})

describe('a network security group', () => {
  const createGroup = async () => {
    const vcn = await usableVcn()
    const { networkSecurityGroup } = await clients.network.createNetworkSecurityGroup({
      createNetworkSecurityGroupDetails: { compartmentId, vcnId: vcn.id, displayName: 'group' },
    })
    return networkSecurityGroup.id
  }
  const add = async (networkSecurityGroupId: string, securityRules: models.AddSecurityRuleDetails[]) => {
    const answer = await clients.network.addNetworkSecurityGroupSecurityRules({
      networkSecurityGroupId,
      addNetworkSecurityGroupSecurityRulesDetails: { securityRules },
    })
    return answer.addedNetworkSecurityGroupSecurityRules.securityRules ?? []
  }
  const remove = (networkSecurityGroupId: string, securityRuleIds: string[]) =>
    clients.network.removeNetworkSecurityGroupSecurityRules({
      networkSecurityGroupId,
      removeNetworkSecurityGroupSecurityRulesDetails: { securityRuleIds },
    })
  const rulesOf = async (networkSecurityGroupId: string) => {
    const { network } = clients
    return (await network.listNetworkSecurityGroupSecurityRules({ networkSecurityGroupId })).items
  }
  const among = (groupId: string): models.AddSecurityRuleDetails => ({
    direction: Direction.Ingress,
    protocol: 'all',
    source: groupId,
    sourceType: SourceType.NetworkSecurityGroup,
  })

  it('has rules that are added and removed', async () => {
    const id = await createGroup()
    const [first, second] = await add(id, [among(id), among(id)])
    expect(await rulesOf(id)).toMatchObject([
      { id: first?.id, source: id, isStateless: false },
      { id: second?.id },
    ])
    await remove(id, [first?.id ?? ''])
    expect(await rulesOf(id)).toMatchObject([{ id: second?.id }])
    expect(await refusalOf(remove(id, [first?.id ?? '']))).toMatchObject(invalid)
    const list = await clients.network.listNetworkSecurityGroups({ compartmentId, displayName: 'group' })
    expect(list.items).toMatchObject([{ id }])
    const shown = await clients.network.getNetworkSecurityGroup({ networkSecurityGroupId: id })
    expect(shown.networkSecurityGroup.displayName).toBe('group')
  })

  it('takes 25 rules at a time, and 120 in all', async () => {
    const id = await createGroup()
    const rules = (count: number) => Array.from({ length: count }, () => among(id))
    expect(await refusalOf(add(id, rules(26)))).toMatchObject(invalid)
    const ids: string[] = []
    for (let n = 0; n < 4; n += 1) ids.push(...(await add(id, rules(25))).map((rule) => rule.id ?? ''))
    expect(await refusalOf(add(id, rules(21)))).toMatchObject({ status: 400, code: 'LimitExceeded' })
    expect(await refusalOf(remove(id, ids.slice(0, 26)))).toMatchObject(invalid)
    expect(await rulesOf(id)).toHaveLength(100)
  })

  it('refuses rules without an end, and of groups that are not there', async () => {
    const id = await createGroup()
    const endless = { direction: Direction.Egress, protocol: 'all', source: id }
    expect(await refusalOf(add(id, [endless]))).toMatchObject(invalid)
    expect(await refusalOf(add(id, [{ ...among(id), protocol: 'tcp' }]))).toMatchObject(invalid)
    expect(await refusalOf(add(id, [among('x')]))).toMatchObject(notFound)
  })
})

describe('a compartment', () => {
  const create = async (name = 'new', region?: string) => {
    const { identity } = stage.clients({}, region)
    const { tenancyId } = stage.cloud.credentials
    const createCompartmentDetails = { compartmentId: tenancyId, name, description: 'x' }
    return (await identity.createCompartment({ createCompartmentDetails })).compartment
  }

  it('takes minutes to be ACTIVE, and cannot be used until then', async () => {
    const { id, lifecycleState } = await create()
    expect(lifecycleState).toBe('CREATING')
    const list = () => clients.network.listVcns({ compartmentId: id })
    expect(await refusalOf(list())).toMatchObject(notFound)
    stage.clock.advance(3 * minute)
    const { compartment } = await clients.identity.getCompartment({ compartmentId: id })
    expect(compartment.lifecycleState).toBe('ACTIVE')
    expect((await list()).items).toEqual([])
  })

  it('is found by its name', async () => {
    const { id } = await create()
    const { tenancyId } = stage.cloud.credentials
    const named = await clients.identity.listCompartments({ compartmentId: tenancyId, name: 'new' })
    expect(named.items).toMatchObject([{ id, lifecycleState: 'CREATING' }])
    const all = await clients.identity.listCompartments({
      compartmentId: tenancyId,
      compartmentIdInSubtree: true,
    })
    expect(all.items.map(({ name }) => name)).toEqual(['machines', 'new'])
  })

  it('is one of its name', async () => {
    await create()
    expect(await refusalOf(create())).toMatchObject({ status: 409, code: 'CompartmentAlreadyExists' })
  })

  it('is made in the home region alone', async () => {
    expect(await refusalOf(create('new', 'us-phoenix-1'))).toMatchObject({ status: 403, code: 'NotAllowed' })
  })
})
