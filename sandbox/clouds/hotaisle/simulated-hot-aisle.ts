import type { Clock } from '../../../lib/model/clock.ts'
import type { MachineHardware, MachineHost } from '../../machines/machine-host.ts'
import type { Gateway } from '../gateway.ts'
import { serve } from '../serve.ts'
import { saveStateFile } from '../state-file.ts'
import { balanceCents, type LedgerEntry, ledgerOf } from './billing.ts'
import { createFaults, type Endpoint } from './faults.ts'
import { createFront, type Requests } from './front.ts'
import { createHandlers } from './handlers.ts'
import { createRentals, type MachineFaults, type Timings } from './rentals.ts'
import { type CloudState, loadState, type SimulatedAccount, type StockRow } from './state.ts'
import { defaultStock } from './stock.ts'

export type SimulatedHotAisleOptions = {
  clock: Clock
  machines: MachineHost
  /** Everything that was answered is in it; started again on it, the cloud goes on where it was. */
  stateFile?: string
  apiKey?: string
  team?: string
  /** Used where there is no state yet. A quantity counts the rented machines too. */
  stock?: StockRow[]
  account?: Partial<SimulatedAccount>
  timings?: Partial<Timings> & {
    /** Whether a DELETE answers at once (the default) or, as the real one, when the machine is wiped. */
    deleteAnswers?: 'at_once' | 'when_done'
  }
  random?: () => number
}

/** On a server of its own. */
export type SimulatedHotAisle = HotAisleCloud & {
  /** What `api_url` is to be set to. */
  url: string
  /** Closes the server; the machines stay with their host. */
  stop(): Promise<void>
}

export type HotAisleCloud = {
  /** Answers requests, whatever they come by. */
  gateway: Gateway
  apiKey: string
  team: string
  faults: MachineFaults
  requests: Requests
  ledger(): LedgerEntry[]
  balanceCents(): number
  setStock(rows: StockRow[]): void
  setAccount(changes: Partial<SimulatedAccount>): void
  /** Makes the key that is in use invalid, or valid again. */
  setApiKey(apiKey: string): void
}

const defaultTimings: Timings = { vmBootMs: 60_000, installMs: 900_000, resetMs: 60_000 }

const defaultAccount: Omit<SimulatedAccount, 'sshKeys'> = {
  roles: ['operator', 'user'],
  userRole: 'owner',
  maximumVirtualMachines: 8,
  maximumBareMetalServers: 4,
  creditCents: 1_000_000,
}

/** Hot Aisle as a server on 127.0.0.1, as strict as the real one. Rejects where its port is taken. */
export const startSimulatedHotAisle = async (
  options: SimulatedHotAisleOptions & {
    /** 0, the default, takes any that is free. */
    port?: number
  },
): Promise<SimulatedHotAisle> => {
  const cloud = await createHotAisleCloud(options)
  const { origin, stop } = await serve(cloud.gateway, options.port ?? 0)
  return { ...cloud, url: `${origin}/api`, stop }
}

/** Hot Aisle without a server: its paths begin with `/api`. */
export const createHotAisleCloud = async (options: SimulatedHotAisleOptions): Promise<HotAisleCloud> => {
  const { clock, machines, stateFile } = options
  const { deleteAnswers = 'at_once', ...timings } = options.timings ?? {}
  const team = options.team ?? 'sandbox'
  let apiKey = options.apiKey ?? 'sandbox.hotaisle-key'

  const saved = stateFile === undefined ? undefined : loadState(stateFile)
  const state: CloudState = saved ?? {
    account: { ...defaultAccount, sshKeys: [], ...options.account },
    stock: options.stock ?? defaultStock,
    rentals: [],
  }
  const save = () => {
    if (stateFile !== undefined) saveStateFile(stateFile, state)
  }
  const faults: MachineFaults = createFaults<MachineHardware, 'refuse' | 'hang' | 'reject_key'>()
  const rentals = createRentals({
    state,
    save,
    clock,
    machines,
    faults,
    timings: { ...defaultTimings, ...timings },
    random: options.random ?? Math.random,
  })
  await rentals.restore()

  const requests: Requests = []
  const gateway = createFront({
    team,
    isAuthorized: (header) => header === `Token ${apiKey}`,
    faults,
    requests,
    settle: rentals.settle,
    handlers: createHandlers({ state, save, clock, rentals, team, deleteAnswers }),
    ledger: () => ({
      balanceCents: balanceCents(state, clock.now()),
      rentals: ledgerOf(state).map(({ chargedCents, ...entry }) => ({
        ...entry,
        chargedCents: chargedCents(clock.now()),
      })),
    }),
  })

  return {
    gateway,
    apiKey,
    team,
    faults,
    requests,
    ledger: () => ledgerOf(state),
    balanceCents: () => balanceCents(state, clock.now()),
    setStock(rows) {
      state.stock = rows
      save()
    },
    setAccount(changes) {
      Object.assign(state.account, changes)
      save()
    },
    setApiKey(key) {
      apiKey = key
    },
  }
}

/** How often a call was made. */
export const countOf = (requests: Requests, endpoint: Endpoint): number =>
  requests.filter((request) => request.endpoint === endpoint).length
