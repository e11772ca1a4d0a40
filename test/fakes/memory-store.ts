import type { Clock } from '../../lib/model/clock.ts'
import type { Fleet } from '../../lib/model/fleet.ts'
import { type Instance, type InstanceEvent, instance as instanceSchema } from '../../lib/model/instance.ts'
import type { Random } from '../../lib/model/random.ts'
import type { Spend } from '../../lib/model/spend.ts'
import { listedUnder, splitEvents } from '../../lib/store/instance-item.ts'
import { InstanceExists, type Once, type Store } from '../../lib/store/store.ts'
import { createMemoryBooks } from './memory-books.ts'
import { createMemoryFleets } from './memory-fleets.ts'
import { createMemoryKeys } from './memory-keys.ts'

export type MemoryStoreOptions = {
  random: Random
  clock?: Clock
  /** By how many milliseconds the indexes are behind the records, asked at each write. */
  indexLagMs?: () => number
  /** Sees each write of an instance with what stood there before, at the moment at which it is done. */
  onWrite?: (before: Instance | undefined, after: Instance) => void
  /** Sees each write of what is committed. */
  onSpend?: (after: Spend) => void
  /** And each write of a fleet, before that of the instance that is written with it. */
  onFleet?: (before: Fleet | undefined, after: Fleet | undefined) => void
}

type Page = { limit: number; cursor?: string | undefined }

/** A store in memory that does what DynamoDB does: conditions, transactions, and indexes that are a moment behind. */
export const createMemoryStore = (options: MemoryStoreOptions): Store => {
  const { clock, indexLagMs = () => 0 } = options
  const records = new Map<string, Instance>()
  const older = new Map<string, { version: number; events: InstanceEvent[] }[]>()
  const uses = new Map<string, { instanceId: string; fingerprint: string }>()
  const index = new Map<string, Instance>()
  const late: { at: number; record: Instance }[] = []

  const indexed = (): Instance[] => {
    const now = clock?.now() ?? 0
    for (const { record } of late.filter(({ at }) => at <= now)) {
      if ((index.get(record.id)?.version ?? -1) < record.version) index.set(record.id, record)
    }
    late.splice(0, late.length, ...late.filter(({ at }) => at > now))
    return [...index.values()]
  }

  const books = createMemoryBooks(options.onSpend)

  const write = (record: Instance) => {
    const before = records.get(record.id)
    records.set(record.id, record)
    late.push({ at: (clock?.now() ?? 0) + indexLagMs(), record })
    options.onWrite?.(before, record)
  }

  const current = (found: Instance[]) => found.flatMap(({ id }) => records.get(id) ?? [])

  /** At once, so that nothing comes between a condition and what it is for. */
  const useOf = (once: Pick<Once, 'scope' | 'key'>) => {
    const use = uses.get(nameOf(once))
    const instance = use && records.get(use.instanceId)
    return use && instance && { instance, fingerprint: use.fingerprint }
  }

  const fleets = createMemoryFleets(options.onFleet)

  return {
    ...createMemoryKeys(options.random),
    ...books.port,
    fleets: fleets.port,
    used: async (once) => useOf(once),
    get: async (id) => records.get(id),

    create: async (instance, { once, fleet, spend: change, costs } = {}) => {
      const earlier = once && useOf(once)
      if (earlier) return { used: earlier }
      if (records.has(instance.id)) throw new InstanceExists(instance.id)
      if (fleet && !fleets.isCurrent(fleet.previous)) return { isFleetStale: true }
      if (!books.mayPut(change)) return { spendChanged: true }
      if (fleet) fleets.write(fleet.previous, fleet.next)
      write(stored(instance))
      books.put(change, costs)
      if (once) uses.set(nameOf(once), { instanceId: instance.id, fingerprint: once.fingerprint })
      return {}
    },

    update: async (previous, changed, { once, fleet, spend: change, costs } = {}) => {
      const stands = records.get(previous.id)
      if (stands?.version !== previous.version) return undefined
      if (once && uses.has(nameOf(once))) return undefined
      if (fleet && !fleets.isCurrent(fleet.previous)) return undefined
      if (!books.mayPut(change)) return undefined
      if (fleet) fleets.write(fleet.previous, fleet.next)
      const { kept, moved } = splitEvents({ ...changed, version: previous.version + 1 })
      const record = stored(kept)
      if (moved.length > 0) {
        older.set(record.id, [...(older.get(record.id) ?? []), { version: record.version, events: moved }])
      }
      if (once) uses.set(nameOf(once), { instanceId: record.id, fingerprint: once.fingerprint })
      books.put(change, costs)
      write(record)
      return record
    },

    olderEvents: async ({ id, version }) =>
      (older.get(id) ?? []).filter((moved) => moved.version <= version).flatMap(({ events }) => events),

    list: async ({ status, ...page }) => {
      const lists = status === undefined ? ['ACTIVE', 'SPARE'] : [listedUnder({ status })]
      const order = lists.flatMap((list) =>
        indexed()
          .filter((each) => listedUnder(each) === list)
          .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
          .map(({ id }) => ({ id, list })),
      )
      const isIn = ({ id, list }: { id: string; list: string }) => {
        const record = records.get(id)
        if (!record || listedUnder(record) !== list) return []
        return status === undefined || record.status === status ? [record] : []
      }
      return cut(order.flatMap(isIn), page)
    },

    reserved: async ({ since, ...page }) => {
      const until = ({ reservation }: Instance) => reservation?.until ?? -1
      const found = indexed().filter((each) => until(each) >= since)
      return cut(current(found.sort((a, b) => until(a) - until(b))), page)
    },

    due: async (now) => current(indexed().filter(({ sweepAt }) => sweepAt !== undefined && sweepAt <= now)),
  }
}

/** What can't be read back must not be written. */
const stored = (instance: Instance): Instance => instanceSchema.parse(instance)

const nameOf = ({ scope, key }: Pick<Once, 'scope' | 'key'>) => `${scope} ${key}`

/** The cursor is the id after which to go on. */
const cut = (found: Instance[], { limit, cursor }: Page): { instances: Instance[]; cursor?: string } => {
  const start = cursor === undefined ? 0 : found.findIndex(({ id }) => id === cursor) + 1
  const instances = found.slice(start, start + limit)
  const last = instances.at(-1)
  return { instances, ...(last && start + limit < found.length && { cursor: last.id }) }
}
