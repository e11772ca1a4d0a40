import type { Clock } from '../../model/clock.ts'
import type { HotAisleSettings } from '../../model/settings.ts'
import type { Backend } from '../backend.ts'
import { createApi, defaultTimeouts, type Timeouts } from './api.ts'
import { createClient } from './client.ts'
import { createCredentials } from './credentials.ts'
import { findMachine } from './find.ts'
import { kindOf } from './kinds.ts'
import { launchMachine } from './launch.ts'
import { idOf, listMachines, listOwned } from './listing.ts'
import { repairMachine, stateOf } from './machines.ts'
import { listOffers } from './offers.ts'
import { releaseMachine } from './release.ts'
import { createEnsureKey } from './ssh-key.ts'

export type HotAisleOptions = {
  settings: HotAisleSettings
  /** OpenSSH public key that is to be let into every machine. */
  sshPublicKey: string
  clock: Clock
  fetch?: typeof fetch | undefined
  timeouts?: Partial<Timeouts> | undefined
}

/** One team of Hot Aisle. Opens no connection before the first call. */
export const createHotAisle = (options: HotAisleOptions): Backend => {
  const { settings, sshPublicKey, clock } = options
  const team = settings.team_handle
  const client = createClient({
    apiUrl: settings.api_url,
    apiKey: settings.creds.api_key,
    clock,
    fetch: options.fetch ?? fetch,
  })
  const api = createApi(client, team, { ...defaultTimeouts, ...options.timeouts })
  const credentials = createCredentials(api, team)
  const ensureKey = createEnsureKey({ api, credentials, team, sshPublicKey })
  const launching = { api, credentials, ensureKey, team, bareMetal: settings.bare_metal, clock }

  return {
    type: 'hotaisle',
    check: credentials.check,
    offers: () => listOffers(api, settings),
    // Two VMs of a team can't be told apart until the first is described.
    launchLock: (offer) => (kindOf(offer.instanceType) === 'vm' ? `hotaisle:${team}` : undefined),
    async prepare(offer) {
      if (kindOf(offer.instanceType) === 'bm') return {}
      const { complete, machines, message = '', retryAfterMs } = await listMachines(api, 'vm')
      return complete ? { existing: machines.map(idOf) } : { failed: message, retryAfterMs }
    },
    launch: (rental) => launchMachine(launching, rental),
    find: (rental) => findMachine({ api, clock }, rental),
    state: (ref) => stateOf(api, credentials, ref),
    repair: (ref) => repairMachine(api, credentials, ref),
    release: (ref, how) => releaseMachine({ api, credentials, clock }, ref, how),
    // Its API tells no times: those of the calls are all that is known.
    billed: async () => ({}),
    async hourlyRate() {
      const answer = await api.balance()
      return answer.kind === 'ok' ? answer.body.hourly_rate : undefined
    },
    owned: () => listOwned(api),
    bootDeadlineMs: (instanceType) => (kindOf(instanceType) === 'bm' ? 60 : 10) * 60_000,
  }
}
