import type { Store } from '../../lib/store/store.ts'
import type { Faults } from './faults.ts'
import type { Call } from './network.ts'

/** The table over a network: throttled, in conflict with others, or done while its answer gets lost. */
export const faultyStore = (store: Store, call: Call, faults: Faults): Store => {
  const read = <Value>(ask: () => Promise<Value>) =>
    call('read of the table', async () => {
      if (faults.strikes('table: read throttled')) throw named('ProvisionedThroughputExceededException')
      return ask()
    })
  const write = <Value>(change: () => Promise<Value>) =>
    call('write of the table', async () => {
      if (faults.strikes('table: write throttled')) throw named('ProvisionedThroughputExceededException')
      if (faults.strikes('table: write conflicted')) throw named('TransactionConflictException')
      const isLost = faults.strikes('table: answer of a write lost')
      const changed = await change()
      if (isLost) throw named('TimeoutError')
      return changed
    })
  const lock = <Value>(change: () => Promise<Value>) =>
    call('lock', async () => {
      if (faults.strikes('lock: throttled')) throw named('ProvisionedThroughputExceededException')
      const isLost = faults.strikes('lock: answer lost')
      const changed = await change()
      if (isLost) throw named('TimeoutError')
      return changed
    })
  return {
    create: (instance, also) => write(() => store.create(instance, also)),
    update: (previous, next, also) => write(() => store.update(previous, next, also)),
    spend: () => read(() => store.spend()),
    putSpend: (change) => write(() => store.putSpend(change)),
    costs: (month) => read(() => store.costs(month)),
    used: (once) => read(() => store.used(once)),
    get: (id) => read(() => store.get(id)),
    olderEvents: (instance) => read(() => store.olderEvents(instance)),
    list: (page) => read(() => store.list(page)),
    reserved: (page) => read(() => store.reserved(page)),
    due: (now, limit) => read(() => store.due(now, limit)),
    takeLock: (name, owner, times) => lock(() => store.takeLock(name, owner, times)),
    freeLock: (name, owner) => lock(() => store.freeLock(name, owner)),
    addApiKey: (key) => write(() => store.addApiKey(key)),
    findApiKey: (hash) => read(() => store.findApiKey(hash)),
    changeApiKey: (key) => write(() => store.changeApiKey(key)),
    keyLimits: (name) => read(() => store.keyLimits(name)),
    listApiKeys: () => read(() => store.listApiKeys()),
    removeApiKey: (name) => write(() => store.removeApiKey(name)),
    owner: () => read(() => store.owner()),
    sightings: {
      get: (backend) => read(() => store.sightings.get(backend)),
      put: (backend, before, machines) => write(() => store.sightings.put(backend, before, machines)),
    },
    fleets: {
      get: (name) => read(() => store.fleets.get(name)),
      list: () => read(() => store.fleets.list()),
      put: (previous, next) => write(() => store.fleets.put(previous, next)),
      remove: (fleet) => write(() => store.fleets.remove(fleet)),
    },
    catalogues: {
      get: (backend) => read(() => store.catalogues.get(backend)),
      put: (backend, catalogue) => write(() => store.catalogues.put(backend, catalogue)),
    },
  }
}

const named = (name: string) => Object.assign(new Error(`${name} (injected)`), { name })
