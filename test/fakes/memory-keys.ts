import type { KeptCatalogue } from '../../lib/model/catalogue.ts'
import type { Random } from '../../lib/model/random.ts'
import type { Sightings } from '../../lib/model/sightings.ts'
import type { ApiKey, ApiKeys, Locks, Store } from '../../lib/store/store.ts'

/** What a store keeps beside instances, in memory. */
export const createMemoryKeys = (
  random: Random,
): Locks & ApiKeys & Pick<Store, 'owner' | 'catalogues' | 'sightings'> => {
  const locks = new Map<string, { owner: string; until: number }>()
  const keys = new Map<string, ApiKey>()
  const removed = new Map<string, ApiKey>()
  const kept = new Map<string, KeptCatalogue>()
  const seen = new Map<string, Sightings>()
  let ownName: string | undefined
  return {
    takeLock: async (lock, owner, { now, until }) => {
      const held = locks.get(lock)
      if (held && held.owner !== owner && held.until >= now) return false
      locks.set(lock, { owner, until })
      return true
    },
    freeLock: async (lock, owner) => {
      if (locks.get(lock)?.owner === owner) locks.delete(lock)
    },
    addApiKey: async (key) => {
      const other = keys.get(key.name)
      if (other && other.hash !== key.hash) return false
      keys.set(key.name, key)
      return true
    },
    changeApiKey: async (key) => {
      if (keys.get(key.name)?.hash !== key.hash) return false
      keys.set(key.name, key)
      return true
    },
    findApiKey: async (hash) => [...keys.values()].find((key) => key.hash === hash),
    keyLimits: async (name) => (keys.get(name) ?? removed.get(name))?.limits,
    listApiKeys: async () => [...keys.values()].sort((one, other) => (one.name < other.name ? -1 : 1)),
    removeApiKey: async (name) => {
      const key = keys.get(name)
      keys.delete(name)
      if (key) removed.set(name, key)
      return key
    },
    owner: async () => {
      ownName ??= random.hex(8)
      return ownName
    },
    sightings: {
      get: async (backend) => seen.get(backend),
      put: async (backend, before, machines) => {
        if (seen.get(backend)?.version !== before?.version) return false
        seen.set(backend, { version: (before?.version ?? 0) + 1, machines })
        return true
      },
    },
    catalogues: {
      get: async (backend) => kept.get(backend),
      put: async (backend, catalogue) => void kept.set(backend, structuredClone(catalogue)),
    },
  }
}
