import type { Clock } from '../../../lib/model/clock.ts'
import type { MachineHost } from '../../machines/machine-host.ts'
import type { Gateway } from '../gateway.ts'
import { serve } from '../serve.ts'
import { saveStateFile } from '../state-file.ts'
import { createAccess, type Session } from './access.ts'
import { type LedgerEntry, ledgerOf } from './billing.ts'
import { createComputeCalls } from './compute-calls.ts'
import { createFaults, type Faults } from './faults.ts'
import { firstState, ids } from './first-state.ts'
import { createFront, type Requests } from './front.ts'
import { createIdentityCalls } from './identity-calls.ts'
import { defaultListings, type SimulatedListing } from './images.ts'
import { createInstances, defaultTimings, type Timings } from './instances.ts'
import { fingerprintOf, keyPairOf, newKeyPair } from './key-pair.ts'
import { createLaunchCheck } from './launch.ts'
import { createMarketplaceCalls } from './marketplace-calls.ts'
import { createNetwork } from './network.ts'
import { createNetworkCalls } from './network-calls.ts'
import type { Operation } from './operations.ts'
import { createPlaces } from './places.ts'
import { defaultRegions, type SimulatedRegion } from './regions.ts'
import { createRetryTokens } from './retry-tokens.ts'
import { createSecurityRuleCalls } from './security-rule-calls.ts'
import { type CloudState, loadState, type StockRow } from './state.ts'
import { defaultStock } from './stock.ts'
import { defaultSwitches, type Switches } from './switches.ts'
import { createWorkRequestCalls } from './work-request-calls.ts'

export type SimulatedOciOptions = {
  clock: Clock
  machines: MachineHost
  /** Everything that was answered is in it; started again on it, the cloud goes on where it was. */
  stateFile?: string
  /** Where the sshd of every machine listens, each at a loopback address of its own: the settings' `ssh_port`. */
  sshPort?: number
  regions?: SimulatedRegion[]
  /** Of both tenancies; every region, if not said. */
  subscribedRegions?: string[]
  homeRegion?: string
  /** Of the API key, as PEM; made at the first start, if not said. */
  privateKey?: string
  /** Used where there is no state yet. The numbers count the rented machines too. */
  stock?: StockRow[]
  listings?: SimulatedListing[]
  timings?: Partial<Timings>
  /** The clock by which clients sign. */
  wallClock?: Clock
  random?: () => number
}

/** On a server of its own. */
export type SimulatedOci = OciCloud & {
  /** What `endpoint` is to be set to: has `{service}` (compute, network, identity, marketplace, auth) and `{region}`. */
  endpoint: string
  /** Closes the server; the machines stay with their host. */
  stop(): Promise<void>
}

export type OciCloud = {
  /** Answers requests, whatever they come by. */
  gateway: Gateway
  /** What `ssh_port` is to be set to. */
  sshPort: number
  credentials: { tenancyId: string; userId: string; fingerprint: string; privateKey: string; region: string }
  /** Of the credentials' own tenancy. */
  compartmentId: string
  /** A compartment of another tenancy in which the credentials may work too. */
  otherTenancy: { tenancyId: string; compartmentId: string }
  faults: Faults
  switches: Switches
  requests: Requests
  ledger(): LedgerEntry[]
  stock(): StockRow[]
  setStock(rows: StockRow[]): void
  /** What `oci session authenticate` gives; it lasts a day, if not said, its token an hour. */
  startSession(lastsMs?: number): Session
  endSession(id: string): void
  /** Takes a machine away, as may happen to a preemptible one. Throws where there is none of that id. */
  preempt(instanceId: string): Promise<void>
}

/** OCI as a server on 127.0.0.1, as strict as the real one. Rejects where its port is taken. */
export const startSimulatedOci = async (
  options: SimulatedOciOptions & {
    /** 0, the default, takes any that is free. */
    port?: number
  },
): Promise<SimulatedOci> => {
  const cloud = await createOciCloud(options)
  const { origin, stop } = await serve(cloud.gateway, options.port ?? 0)
  return { ...cloud, endpoint: `${origin}/{service}/{region}`, stop }
}

/** OCI without a server: its paths begin with the service and the region. */
export const createOciCloud = async (options: SimulatedOciOptions): Promise<OciCloud> => {
  const { clock, machines, stateFile, sshPort = 10_022 } = options
  const { regions = defaultRegions, listings = defaultListings, random = Math.random } = options
  const timings = { ...defaultTimings, ...options.timings }
  const homeRegion = options.homeRegion ?? regions[0]?.name ?? ''

  const saved = stateFile === undefined ? undefined : loadState(stateFile)
  const state: CloudState =
    saved ??
    firstState({
      clock,
      regions,
      homeRegion,
      subscribedRegions: options.subscribedRegions ?? regions.map(({ name }) => name),
      privateKey: options.privateKey ?? newKeyPair().privateKey,
      stock: options.stock ?? defaultStock(regions),
    })
  const save = () => {
    if (stateFile !== undefined) saveStateFile(stateFile, state)
  }
  // The key is handed out now, so it has to outlive a cloud of which nothing was asked.
  if (!saved) save()
  const faults = createFaults()
  const switches = defaultSwitches()
  const wallClock = options.wallClock ?? { now: () => Date.now() }
  const access = createAccess({ state, save, clock, wallClock, switches })
  const places = createPlaces({ state, clock, regions, random })
  const retryTokens = createRetryTokens({ state, clock })
  const network = createNetwork({ state, clock, places, networkMs: timings.networkMs })
  const instances = createInstances({
    state,
    save,
    clock,
    machines,
    faults,
    places,
    timings,
    sshPort,
    isReachable: network.isReachable,
    random,
  })
  await instances.restore()

  const requests: Requests = []
  const checkLaunch = createLaunchCheck({ state, clock, places, network, listings })
  const all = { state, save, clock, places, network, retryTokens, listings, switches }
  const handlers = {
    ...createComputeCalls({ ...all, instances, checkLaunch }),
    ...createWorkRequestCalls(all),
    ...createNetworkCalls(all),
    ...createSecurityRuleCalls(all),
    ...createIdentityCalls({ ...all, compartmentMs: timings.compartmentMs }),
    ...createMarketplaceCalls(all),
    refreshSessionToken: access.refresh,
  }
  const gateway = createFront({
    authenticate: access.authenticate,
    faults,
    switches,
    requests,
    settle: instances.settle,
    handlers,
    save,
    ledger: () => ({
      instances: ledgerOf(state, clock.now()).map(({ chargedCents, ...entry }) => ({
        ...entry,
        chargedCents: chargedCents(clock.now()),
      })),
    }),
  })

  return {
    gateway,
    sshPort,
    credentials: {
      tenancyId: ids.tenancyId,
      userId: ids.userId,
      fingerprint: fingerprintOf(keyPairOf(state.privateKey).publicKey),
      privateKey: state.privateKey,
      region: homeRegion,
    },
    compartmentId: ids.compartmentId,
    otherTenancy: { tenancyId: ids.otherTenancyId, compartmentId: ids.otherCompartmentId },
    faults,
    switches,
    requests,
    ledger: () => ledgerOf(state, clock.now()),
    stock: () => state.stock,
    setStock(rows) {
      state.stock = rows
      save()
    },
    startSession: (lastsMs = 24 * 60 * 60_000) => access.startSession(ids.userId, newKeyPair(), lastsMs),
    endSession: access.endSession,
    async preempt(instanceId) {
      const instance = state.instances.find(({ id }) => id === instanceId)
      if (!instance) throw new Error(`the simulated OCI has no instance ${instanceId}`)
      await instances.preempt(instance)
    },
  }
}

/** How often a call was made. */
export const countOf = (requests: Requests, operation: Operation): number =>
  requests.filter((request) => request.operation === operation).length
