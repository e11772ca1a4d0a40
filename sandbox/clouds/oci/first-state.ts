import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../lib/model/clock.ts'
import { fingerprintOf, keyPairOf } from './key-pair.ts'
import type { SimulatedRegion } from './regions.ts'
import type { CloudState, StockRow } from './state.ts'

/** The names of everything that is there from the start; the same in every sandbox. */
export const ids = {
  tenancyId: 'ocid1.tenancy.oc1..aaaasandbox',
  userId: 'ocid1.user.oc1..aaaasandbox',
  compartmentId: 'ocid1.compartment.oc1..aaaasandboxmachines',
  otherTenancyId: 'ocid1.tenancy.oc1..aaaapartner',
  otherCompartmentId: 'ocid1.compartment.oc1..aaaapartnershared',
}

/**
 * A tenancy with one user and a compartment `machines`, and a second tenancy that shares its compartment `shared`
 * with the first. Their domains have different names.
 */
export const firstState = (options: {
  clock: Clock
  regions: SimulatedRegion[]
  subscribedRegions: string[]
  homeRegion: string
  privateKey: string
  stock: StockRow[]
}): CloudState => {
  const { clock, subscribedRegions, homeRegion, privateKey, stock } = options
  const { publicKey } = keyPairOf(privateKey)
  const compartment = (id: string, tenancyId: string, name: string, sharedWith: string[] = []) => ({
    id,
    tenancyId,
    parentId: id === tenancyId ? null : tenancyId,
    name,
    description: name,
    createdAt: clock.now(),
    activeAt: clock.now(),
    sharedWith,
  })
  return {
    ocids: 0,
    privateKey,
    secret: randomBytes(32).toString('hex'),
    tenancies: [
      { id: ids.tenancyId, name: 'sandbox', domainPrefix: 'kIdk', homeRegion, subscribedRegions },
      { id: ids.otherTenancyId, name: 'partner', domainPrefix: 'qXyz', homeRegion, subscribedRegions },
    ],
    users: [
      {
        id: ids.userId,
        tenancyId: ids.tenancyId,
        name: 'sandbox',
        keys: [{ fingerprint: fingerprintOf(publicKey), publicKey }],
      },
    ],
    compartments: [
      compartment(ids.tenancyId, ids.tenancyId, 'sandbox'),
      compartment(ids.compartmentId, ids.tenancyId, 'machines'),
      compartment(ids.otherTenancyId, ids.otherTenancyId, 'partner'),
      compartment(ids.otherCompartmentId, ids.otherTenancyId, 'shared', [ids.tenancyId]),
    ],
    sessions: [],
    stock,
    network: [],
    acceptedAgreements: [],
    instances: [],
    retryTokens: [],
  }
}
