import { createHash } from 'node:crypto'
import type { Clock } from '../../../lib/model/clock.ts'
import type { Caller } from './access.ts'
import { invalid, notFound } from './refusal.ts'
import { domainNames, type SimulatedRegion } from './regions.ts'
import type { CloudState, Compartment } from './state.ts'

export type Places = ReturnType<typeof createPlaces>

/** Compartments, the domains as each tenancy names them, and new OCIDs. */
export const createPlaces = (parts: {
  state: CloudState
  clock: Clock
  regions: SimulatedRegion[]
  random: () => number
}) => {
  const { state, clock, regions, random } = parts

  const namesIn = (regionName: string, tenancyId: string): string[] => {
    const region = regions.find(({ name }) => name === regionName)
    const tenancy = state.tenancies.find(({ id }) => id === tenancyId)
    return region && tenancy ? domainNames(region, tenancy.domainPrefix) : []
  }

  return {
    isSeenBy: (caller: Caller, { tenancyId, sharedWith }: Compartment) =>
      tenancyId === caller.tenancyId || sharedWith.includes(caller.tenancyId),

    /** The compartment, where the caller may work in it and it is ready; else throws 404. */
    compartment(caller: Caller, id: string): Compartment {
      const found = state.compartments.find((compartment) => compartment.id === id)
      if (!found || !this.isSeenBy(caller, found) || clock.now() < found.activeAt) throw notFound()
      return found
    },

    /** What the owner of the compartment calls the domains of the region. */
    domains: (region: string, { tenancyId }: Compartment) => namesIn(region, tenancyId),

    /** The number of the domain. Throws 404 for a name that another tenancy has for it, 400 for one of nobody. */
    domain(region: string, compartment: Compartment, name: string): number {
      const index = namesIn(region, compartment.tenancyId).indexOf(name)
      if (index >= 0) return index + 1
      if (state.tenancies.some(({ id }) => namesIn(region, id).includes(name))) throw notFound()
      throw invalid(`availabilityDomain: '${name}' is not an availability domain of ${region}`)
    },

    /** A new OCID; saved with the next change. */
    ocid(kind: string, region: string): string {
      state.ocids += 1
      const unique = createHash('sha256').update(`${state.ocids} ${random()}`).digest('hex').slice(0, 56)
      return `ocid1.${kind}.oc1.${region}.aaaa${unique}`
    },
  }
}
