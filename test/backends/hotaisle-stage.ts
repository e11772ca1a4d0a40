import type { Backend, MachineRef, Rental } from '../../lib/backends/backend.ts'
import { createHotAisle, type HotAisleOptions } from '../../lib/backends/hotaisle/hot-aisle.ts'
import type { Offer } from '../../lib/model/offer.ts'
import type { HotAisleSettings } from '../../lib/model/settings.ts'
import {
  type SimulatedHotAisle,
  type SimulatedHotAisleOptions,
  startSimulatedHotAisle,
} from '../../sandbox/clouds/hotaisle/simulated-hot-aisle.ts'
import { createMachinesInMemory, type MachinesInMemory } from '../fakes/machines-in-memory.ts'
import { createManualClock, type ManualClock } from '../fakes/manual-clock.ts'

export const sshPublicKey =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2m5qkZ7r9b0q3gM9cT1yV5x8wE4nU2hL6kD7fS0aQz berth'

export type HotAisleStage = {
  clock: ManualClock
  cloud: SimulatedHotAisle
  machines: MachinesInMemory
  backend: Backend
  settings: HotAisleSettings
  /** Another backend on the same account, as another process would have. */
  another(changes?: Partial<HotAisleSettings>, options?: Partial<HotAisleOptions>): Backend
}

/** A simulated Hot Aisle with its machines, and a backend that rents from it. Bare metal is enabled. */
export const startHotAisleStage = async (
  cloudOptions: Partial<SimulatedHotAisleOptions> = {},
  backendOptions: Partial<HotAisleOptions> = {},
): Promise<HotAisleStage> => {
  const clock = createManualClock()
  const machines = createMachinesInMemory()
  const cloud = await startSimulatedHotAisle({ clock, machines, ...cloudOptions })
  const settings: HotAisleSettings = {
    type: 'hotaisle',
    team_handle: cloud.team,
    creds: { type: 'api_key', api_key: cloud.apiKey },
    bare_metal: true,
    api_url: cloud.url,
  }
  const another: HotAisleStage['another'] = (changes, options) =>
    createHotAisle({
      settings: { ...settings, ...changes },
      sshPublicKey,
      clock,
      ...backendOptions,
      ...options,
    })
  return { clock, cloud, machines, backend: another(), settings, another }
}

/** The first offer of a type; its Specs are those of the stock. */
export const offerOf = async (backend: Backend, instanceType: string): Promise<Offer> => {
  const { offers } = await backend.offers({})
  const offer = offers.find((offer) => offer.instanceType === instanceType)
  if (!offer) throw new Error(`${instanceType} is not among ${offers.map(({ id }) => id).join(', ')}`)
  return offer
}

/** A launch as it is written down before it is paid for. */
export const intend = async (
  { backend, clock }: Pick<HotAisleStage, 'backend' | 'clock'>,
  instanceType: string,
  mark = 'berth-test-instance-1',
): Promise<Rental> => {
  const offer = await offerOf(backend, instanceType)
  const prepared = await backend.prepare(offer)
  if ('failed' in prepared) throw new Error(`the launch could not be prepared: ${prepared.failed}`)
  const { id: offerId, payload, region } = offer
  const intent = { attempt: 1, offerId, mark, token: mark, ...prepared, payload, writtenAt: clock.now() }
  return { intent, region, instanceType }
}

export const rent = async (
  stage: Pick<HotAisleStage, 'backend' | 'clock'>,
  instanceType: string,
  mark?: string,
): Promise<MachineRef> => {
  const rental = await intend(stage, instanceType, mark)
  const outcome = await stage.backend.launch(rental)
  if (outcome.outcome !== 'launched') throw new Error(`not launched: ${outcome.message}`)
  return { region: rental.region, instanceType, mark: rental.intent.mark, ...outcome.machine }
}
