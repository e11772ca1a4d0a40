import * as z from 'zod'
import type { Clock } from '../../../lib/model/clock.ts'
import { bodyOf, type Call, fits, type Handler, needed, pageOf, type Reply } from './call.ts'
import { freeformTags } from './launch.ts'
import type { Operation } from './operations.ts'
import type { Places } from './places.ts'
import { notFound, Refusal } from './refusal.ts'
import { regionKey } from './regions.ts'
import type { RetryTokens } from './retry-tokens.ts'
import type { CloudState, Compartment, Tenancy } from './state.ts'
import type { Switches } from './switches.ts'
import { timeBody } from './wire.ts'

/** Domains, compartments, tenancies, users. */
export const createIdentityCalls = (parts: {
  state: CloudState
  clock: Clock
  places: Places
  retryTokens: RetryTokens
  switches: Switches
  compartmentMs: number
}) => {
  const { state, clock, places, retryTokens, switches } = parts

  const body = (compartment: Compartment) => ({
    id: compartment.id,
    compartmentId: compartment.parentId,
    name: compartment.name,
    description: compartment.description,
    lifecycleState: clock.now() < compartment.activeAt ? 'CREATING' : 'ACTIVE',
    timeCreated: timeBody(compartment.createdAt),
    freeformTags: {},
    definedTags: {},
  })

  const tenancyOf = (call: Call): Tenancy => {
    const tenancy = state.tenancies.find(({ id }) => id === call.names.tenancyId)
    if (tenancy?.id !== call.caller.tenancyId) throw notFound()
    return tenancy
  }

  const createCompartment = (call: Call): Reply => {
    const { compartmentId: parentId, name, description } = bodyOf(call, compartmentDetails)
    const parent = places.compartment(call.caller, parentId)
    const home = state.tenancies.find(({ id }) => id === parent.tenancyId)?.homeRegion ?? ''
    if (call.region !== home) {
      const message = `Please go to your home region ${regionKey(home)} to execute CREATE, UPDATE and DELETE operations.`
      throw new Refusal(403, 'NotAllowed', message)
    }
    const id = retryTokens.once(call, () => {
      if (state.compartments.some((other) => other.parentId === parentId && other.name === name)) {
        const message = `A compartment with the name ${name} already exists in the parent compartment`
        throw new Refusal(409, 'CompartmentAlreadyExists', message)
      }
      const compartment = {
        id: places.ocid('compartment', ''),
        tenancyId: parent.tenancyId,
        parentId,
        name,
        description,
        createdAt: clock.now(),
        activeAt: clock.now() + parts.compartmentMs,
        sharedWith: parent.sharedWith,
      }
      state.compartments.push(compartment)
      return compartment.id
    })
    const made = state.compartments.find((compartment) => compartment.id === id)
    if (!made) throw notFound()
    return { body: body(made) }
  }

  return {
    listAvailabilityDomains: (call) => {
      const compartment = places.compartment(call.caller, needed(call, 'compartmentId'))
      const rows = places.domains(call.region, compartment).map((name) => ({
        name,
        id: `ocid1.availabilitydomain.oc1..${name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}`,
        compartmentId: compartment.id,
      }))
      return { body: rows }
    },

    createCompartment,

    listCompartments: (call) => {
      const parent = places.compartment(call.caller, needed(call, 'compartmentId'))
      const isBelow = (compartment: Compartment) =>
        call.query.get('compartmentIdInSubtree') === 'true'
          ? compartment.tenancyId === parent.tenancyId && compartment.parentId !== null
          : compartment.parentId === parent.id
      const rows = state.compartments
        .filter((compartment) => isBelow(compartment) && places.isSeenBy(call.caller, compartment))
        .map(body)
        .filter((row) => fits(call, 'name', row.name) && fits(call, 'lifecycleState', row.lifecycleState))
      return pageOf(call, rows, switches)
    },

    getCompartment: (call) => {
      const found = state.compartments.find(({ id }) => id === call.names.compartmentId)
      if (!found || !places.isSeenBy(call.caller, found)) throw notFound()
      return { body: body(found) }
    },

    getTenancy: (call) => {
      const { id, name, homeRegion } = tenancyOf(call)
      return { body: { id, name, description: name, homeRegionKey: regionKey(homeRegion) } }
    },

    listRegionSubscriptions: (call) => {
      const { subscribedRegions, homeRegion } = tenancyOf(call)
      const rows = subscribedRegions.map((name) => ({
        regionKey: regionKey(name),
        regionName: name,
        status: 'READY',
        isHomeRegion: name === homeRegion,
      }))
      return { body: rows }
    },

    getUser: (call) => {
      const user = state.users.find(({ id }) => id === call.names.userId)
      if (user?.tenancyId !== call.caller.tenancyId) throw notFound()
      return {
        body: {
          id: user.id,
          compartmentId: user.tenancyId,
          name: user.name,
          description: user.name,
          lifecycleState: 'ACTIVE',
          timeCreated: timeBody(0),
          isMfaActivated: false,
        },
      }
    },
  } satisfies Partial<Record<Operation, Handler>>
}

const compartmentDetails = z.object({
  compartmentId: z.string(),
  name: z.string().regex(/^[\w.-]{1,100}$/),
  description: z.string().min(1).max(400),
  freeformTags,
})
