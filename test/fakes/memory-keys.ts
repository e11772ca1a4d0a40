import type { KeptCatalogue } from '../../lib/model/catalogue.ts'
import type { Random } from '../../lib/model/random.ts'
import type { Sightings } from '../../lib/model/sightings.ts'
import type { ApiKeys, Locks, Store } from '../../lib/store/store.ts'

/** What a store keeps beside instances, in memory. */
export const createMemoryKeys = (
  random: Random,
): Locks & ApiKeys & Pick<Store, 'owner' | 'catalogues' | 'sightings'> => {
  const locks = new Map<string, { owner: string; until: number }>()
  const keys = new Map<string, Parameters<ApiKeys['addApiKey']>[0]>()
  const kept = new Map<string, KeptCatalogue>()
  const seen = new Map<string, Sightings>()
  let name: string | undefined
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
    addApiKey: async (key) => void keys.set(key.hash, key),
    findApiKey: async (hash) => keys.get(hash),
    owner: async () => {
      name ??= random.hex(8)
      return name
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
