/** Every call that the simulated cloud knows, by the name that Oracle gives it: service, method, path. */
const operations = {
  launchInstance: 'iaas POST instances',
  listInstances: 'iaas GET instances',
  getInstance: 'iaas GET instances/{instanceId}',
  updateInstance: 'iaas PUT instances/{instanceId}',
  terminateInstance: 'iaas DELETE instances/{instanceId}',
  listShapes: 'iaas GET shapes',
  createComputeCapacityReport: 'iaas POST computeCapacityReports',
  getImage: 'iaas GET images/{imageId}',
  listVnicAttachments: 'iaas GET vnicAttachments',
  getVnicAttachment: 'iaas GET vnicAttachments/{vnicAttachmentId}',
  getVnic: 'iaas GET vnics/{vnicId}',
  listWorkRequests: 'iaas GET workRequests',
  getWorkRequest: 'iaas GET workRequests/{workRequestId}',
  listWorkRequestErrors: 'iaas GET workRequests/{workRequestId}/errors',

  createVcn: 'iaas POST vcns',
  listVcns: 'iaas GET vcns',
  getVcn: 'iaas GET vcns/{vcnId}',
  createInternetGateway: 'iaas POST internetGateways',
  listInternetGateways: 'iaas GET internetGateways',
  getInternetGateway: 'iaas GET internetGateways/{igId}',
  listRouteTables: 'iaas GET routeTables',
  getRouteTable: 'iaas GET routeTables/{rtId}',
  updateRouteTable: 'iaas PUT routeTables/{rtId}',
  createSubnet: 'iaas POST subnets',
  listSubnets: 'iaas GET subnets',
  getSubnet: 'iaas GET subnets/{subnetId}',
  createNetworkSecurityGroup: 'iaas POST networkSecurityGroups',
  listNetworkSecurityGroups: 'iaas GET networkSecurityGroups',
  getNetworkSecurityGroup: 'iaas GET networkSecurityGroups/{networkSecurityGroupId}',
  listNetworkSecurityGroupSecurityRules:
    'iaas GET networkSecurityGroups/{networkSecurityGroupId}/securityRules',
  addNetworkSecurityGroupSecurityRules:
    'iaas POST networkSecurityGroups/{networkSecurityGroupId}/actions/addSecurityRules',
  removeNetworkSecurityGroupSecurityRules:
    'iaas POST networkSecurityGroups/{networkSecurityGroupId}/actions/removeSecurityRules',
  listSecurityLists: 'iaas GET securityLists',

  listAvailabilityDomains: 'identity GET availabilityDomains',
  createCompartment: 'identity POST compartments',
  listCompartments: 'identity GET compartments',
  getCompartment: 'identity GET compartments/{compartmentId}',
  getTenancy: 'identity GET tenancies/{tenancyId}',
  listRegionSubscriptions: 'identity GET tenancies/{tenancyId}/regionSubscriptions',
  getUser: 'identity GET users/{userId}',

  listListings: 'marketplace GET listings',
  getListing: 'marketplace GET listings/{listingId}',
  getPackage: 'marketplace GET listings/{listingId}/packages/{packageVersion}',
  listAgreements: 'marketplace GET listings/{listingId}/packages/{packageVersion}/agreements',
  getAgreement: 'marketplace GET listings/{listingId}/packages/{packageVersion}/agreements/{agreementId}',
  listAcceptedAgreements: 'marketplace GET acceptedAgreements',
  createAcceptedAgreement: 'marketplace POST acceptedAgreements',

  refreshSessionToken: 'auth POST authentication/refresh',
} as const
export type Operation = keyof typeof operations

/** Which call a request makes, in which region; the names in its path, decoded. */
export type Route = { operation: Operation; region: string; names: Record<string, string> }

/** The call of a method and path, `405` for a path that knows no such method, `404` for one that is not known. */
export const route = (method: string, path: string): Route | 404 | 405 => {
  const known = table.flatMap((entry) => {
    const groups = entry.pattern.exec(path)?.groups
    return groups ? [{ ...entry, groups }] : []
  })
  const own = known.find((entry) => entry.method === method)
  if (!own) return known.length === 0 ? 404 : 405
  const { region = '', ...names } = own.groups
  return {
    operation: own.operation,
    region,
    names: Object.fromEntries(
      Object.entries(names).map(([name, value]) => [name, decodeURIComponent(value ?? '')]),
    ),
  }
}

/** The `{service}` of the endpoint template and the version of its API. Compute and network are one service. */
const services: Record<string, string> = {
  iaas: '(?:compute|network)/(?<region>[^/]+)/20160918',
  identity: 'identity/(?<region>[^/]+)/20160918',
  marketplace: 'marketplace/(?<region>[^/]+)/20181001',
  auth: 'auth/(?<region>[^/]+)/v1',
}

const isOperation = (name: string): name is Operation => name in operations

const table = Object.entries(operations).flatMap(([operation, call]) => {
  const [service = '', method = '', path = ''] = call.split(' ')
  const pattern = new RegExp(`^/${services[service]}/${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
  return isOperation(operation) ? [{ operation, method, pattern }] : []
})
