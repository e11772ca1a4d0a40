import type { Clock } from '../../model/clock.ts'
import type { OciSettings } from '../../model/settings.ts'
import type { Backend, CataloguePort, CredentialsCheck } from '../backend.ts'
import { type Api, createApi } from './api.ts'
import { billedOf } from './billed.ts'
import { fetchFeeds } from './feeds.ts'
import { findMachine } from './find.ts'
import { defaultTimeouts, type Timeouts } from './http-client.ts'
import { listOwned } from './instances.ts'
import { shippedCatalogue } from './known-catalogue.ts'
import { launchMachine } from './launch.ts'
import { stateOf } from './machines.ts'
import { createOffers } from './offers.ts'
import { createPlaces, type Places } from './places.ts'
import { releaseMachine } from './release.ts'
import { createSetUp } from './set-up.ts'

export type OciOptions = {
  settings: OciSettings
  /** OpenSSH public key that is to be let into every machine. */
  sshPublicKey: string
  /** The script that cloud-init runs at the first boot. */
  userData: () => Promise<string>
  catalogues: CataloguePort
  clock: Clock
  fetch?: typeof fetch | undefined
  timeouts?: Partial<Timeouts> | undefined
}

/** One compartment of OCI. Opens no connection, reads no file and loads no SDK before the first call. */
export const createOci = (options: OciOptions): Backend => {
  const { settings, sshPublicKey, userData, clock } = options
  const send = options.fetch ?? fetch
  const api = createApi({
    settings,
    clock,
    fetch: send,
    timeouts: { ...defaultTimeouts, ...options.timeouts },
  })
  const places = createPlaces({ api, settings, clock })
  const offers = createOffers({ api, places, settings, clock, catalogues: options.catalogues })
  const setUp = createSetUp({ api, places, clock })
  const launching = { api, setUp, imageVersion: settings.image_version, sshPublicKey, userData, clock }

  return {
    type: 'oci',
    published: { shipped: shippedCatalogue, fetch: () => fetchFeeds({ fetch: send, clock }) },
    check: () => checkAccess(api, places, settings),
    offers,
    // Machines are told apart by their marks, and a launch has a retry token.
    launchLock: () => undefined,
    prepare: async () => ({}),
    launch: (rental) => launchMachine(launching, rental),
    find: (rental) => findMachine({ api, places, clock }, rental),
    state: (ref) => stateOf({ api, places, clock, sshPort: settings.ssh_port }, ref),
    repair: async (ref) => ({ outcome: 'not_possible', message: `OCI does not install ${ref.cloudId} anew` }),
    release: (ref) => releaseMachine({ api, places, clock }, ref),
    // Its bills are a day late.
    hourlyRate: async () => undefined,
    billed: (ref) => billedOf({ api, places }, ref),
    owned: () => listOwned(api, places),
    bootDeadlineMs: (instanceType) => (instanceType.startsWith('BM.') ? 20 : 10) * 60_000,
  }
}

/** Whether the account answers, and shows what the settings name. What policies allow shows only when it is done. */
const checkAccess = async (
  api: Api,
  places: Places,
  { compartment_id: compartmentId }: Pick<OciSettings, 'compartment_id'>,
): Promise<CredentialsCheck> => {
  const regions = await places.regions()
  if (regions.kind === 'failed') {
    return { ok: false, state: regions.status === 401 ? 'bad' : 'unknown', message: regions.message }
  }
  const { wanted, errors, home } = regions.value
  const [error] = errors
  if (error) return { ok: false, state: 'bad', message: errors.map(({ message }) => message).join(' ') }
  if (compartmentId === undefined) return { ok: true }
  const seen = await api.ask('the compartment', wanted[0] ?? home, ({ identity }) =>
    identity.getCompartment({ compartmentId }),
  )
  if (seen.kind === 'ok') return { ok: true }
  const advice =
    seen.status === 404 ? ' Correct compartment_id, or let a policy give this user access to it.' : ''
  const state = seen.status === 401 || seen.status === 404 ? 'bad' : 'unknown'
  return { ok: false, state, message: `${seen.message}.${advice}` }
}
