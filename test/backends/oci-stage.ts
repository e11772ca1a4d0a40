import { generateKeyPairSync } from 'node:crypto'
import type { Backend, MachineRef, Rental } from '../../lib/backends/backend.ts'
import { shippedCatalogue } from '../../lib/backends/oci/known-catalogue.ts'
import { createOci, type OciOptions } from '../../lib/backends/oci/oci.ts'
import type { Offer } from '../../lib/model/offer.ts'
import { type OciSettings, settings as settingsSchema } from '../../lib/model/settings.ts'
import {
  type SimulatedOci,
  type SimulatedOciOptions,
  startSimulatedOci,
} from '../../sandbox/clouds/oci/simulated-oci.ts'
import { createMachinesInMemory, type MachinesInMemory } from '../fakes/machines-in-memory.ts'
import { createManualClock, type ManualClock } from '../fakes/manual-clock.ts'
import { sshPublicKey } from './hotaisle-stage.ts'

/** One for all, and shorter than OCI would take: most of the time of these tests goes into signatures. */
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 512,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})

export const frankfurt = 'eu-frankfurt-1'
export const domain = (number: number) => `kIdk:EU-FRANKFURT-1-AD-${number}`

export type OciStage = {
  clock: ManualClock
  cloud: SimulatedOci
  machines: MachinesInMemory
  backend: Backend
  settings: OciSettings
  /** Another backend on the same account, as another process would have. */
  another(changes?: Partial<OciSettings>, options?: Partial<OciOptions>): Backend
}

/** A simulated OCI with one region, and a backend that rents from it. The list of shapes is as old as the clock. */
export const startOciStage = async (
  cloudOptions: Partial<SimulatedOciOptions & { clock: ManualClock; machines: MachinesInMemory }> = {},
  changes: Partial<OciSettings> = {},
): Promise<OciStage> => {
  const { clock = createManualClock(), machines = createMachinesInMemory() } = cloudOptions
  const cloud = await startSimulatedOci({ privateKey, ...cloudOptions, clock, machines })
  const settings = { ...settingsOf(cloud), ...changes }
  const another: OciStage['another'] = (more, options) =>
    createOci({
      settings: { ...settings, ...more },
      sshPublicKey,
      userData: async () => '#!/bin/sh\necho started\n',
      catalogues: { get: async () => ({ ...shippedCatalogue, madeAt: clock.now() }) },
      clock,
      timeouts: { callMs: 2000, launchMs: 2000 },
      ...options,
    })
  return { clock, cloud, machines, backend: another(), settings, another }
}

/** The settings of a backend as `berth.yml` would have them. */
const settingsOf = (cloud: SimulatedOci): OciSettings => {
  const { tenancyId, userId, fingerprint, region } = cloud.credentials
  const read = settingsSchema.parse({
    backends: [
      {
        type: 'oci',
        creds: {
          type: 'client',
          user: userId,
          tenancy: tenancyId,
          fingerprint,
          key_content: cloud.credentials.privateKey,
          region,
        },
        regions: [frankfurt],
        compartment_id: cloud.compartmentId,
        endpoint: cloud.endpoint,
        ssh_port: cloud.sshPort,
      },
    ],
  })
  const [backend] = read.backends
  if (backend?.type !== 'oci') throw new Error('these are no settings of OCI')
  return backend
}

export const offerOf = async (
  backend: Backend,
  instanceType: string,
  { spot = false }: { spot?: boolean } = {},
): Promise<Offer> => {
  const { offers, errors } = await backend.offers({})
  const offer = offers.find((row) => row.instanceType === instanceType && row.resources.spot === spot)
  if (offer) return offer
  throw new Error(
    `${instanceType} is not among ${offers.map(({ id }) => id).join(', ')}; ${JSON.stringify(errors)}`,
  )
}

/** A launch as it is written down before it is paid for. */
export const intend = async (
  { backend, clock }: Pick<OciStage, 'backend' | 'clock'>,
  instanceType: string,
  options: { mark?: string; spot?: boolean; zone?: string } = {},
): Promise<Rental> => {
  const offer = await offerOf(backend, instanceType, options)
  const { id: offerId, payload, region } = offer
  const mark = options.mark ?? 'berth:0a0b0c0d:i-000000000001:1'
  const zone = options.zone ?? offer.zones[0]
  const intent = { attempt: 1, offerId, mark, token: `${mark} ${zone}`, payload, writtenAt: clock.now() }
  return { intent, region, zone, instanceType }
}

export const rent = async (
  stage: Pick<OciStage, 'backend' | 'clock'>,
  instanceType: string,
  options: { mark?: string; spot?: boolean; zone?: string } = {},
): Promise<MachineRef> => {
  const rental = await intend(stage, instanceType, options)
  const outcome = await stage.backend.launch(rental)
  if (outcome.outcome !== 'launched') throw new Error(`not launched: ${outcome.message}`)
  return { region: rental.region, instanceType, mark: rental.intent.mark, ...outcome.machine }
}
