import { type Fleet, fleet as fleetSchema } from '../../lib/model/fleet.ts'
import type { FleetsPort } from '../../lib/store/store.ts'

/** Fleets in memory, and what the instances' transactions need of them, at once. */
export const createMemoryFleets = (
  onFleet: (before: Fleet | undefined, after: Fleet | undefined) => void = () => {},
): {
  port: FleetsPort
  isCurrent: (read: Fleet) => boolean
  write: (previous: Fleet, next: Fleet) => Fleet
} => {
  const kept = new Map<string, Fleet>()
  const put = (fleet: Fleet): Fleet => {
    const before = kept.get(fleet.name)
    const stored = fleetSchema.parse(fleet)
    kept.set(stored.name, stored)
    onFleet(before, stored)
    return stored
  }
  const isCurrent = ({ name, version, createdAt }: Fleet) => {
    const stands = kept.get(name)
    return stands?.version === version && stands.createdAt === createdAt
  }
  const write = (previous: Fleet, next: Fleet) => put({ ...next, version: previous.version + 1 })
  return {
    isCurrent,
    write,
    port: {
      get: async (name) => kept.get(name),
      list: async () => [...kept.values()].sort((one, other) => (one.name < other.name ? -1 : 1)),
      put: async (previous, next) => {
        if (previous) return isCurrent(previous) ? write(previous, next) : undefined
        return kept.has(next.name) ? undefined : put({ ...next, version: 0 })
      },
      remove: async (fleet) => {
        if (!isCurrent(fleet)) return false
        kept.delete(fleet.name)
        onFleet(fleet, undefined)
        return true
      },
    },
  }
}
