import { type Fleet, fleet as fleetSchema } from '../model/fleet.ts'
import type { FleetChange } from './store.ts'

/** Fleets are few and listed every minute, so that they stand in one partition. */
export const fleetsKey = 'FLEETS'

export const fleetKey = (name: string) => ({ pk: fleetsKey, sk: `FLEET#${name}` })

export const toFleetItem = (fleet: Fleet) => ({ ...fleetKey(fleet.name), ...fleetSchema.parse(fleet) })

export const fromFleetItem = (item: Record<string, unknown>): Fleet => fleetSchema.parse(item)

/** The fleet after a change, on the version that it was decided on. */
export const changedFleet = ({ previous, next }: FleetChange): Fleet => ({
  ...next,
  version: previous.version + 1,
})

/** Nobody has written since it was read, nor removed it and made another one of that name. */
export const isSameFleet = ({ version, createdAt }: Fleet) => ({
  ConditionExpression: '#version = :version AND createdAt = :createdAt',
  ExpressionAttributeNames: { '#version': 'version' },
  ExpressionAttributeValues: { ':version': version, ':createdAt': createdAt },
})
