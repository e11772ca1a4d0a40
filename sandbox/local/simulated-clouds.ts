import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type * as z from 'zod'
import type { Clock } from '../../lib/model/clock.ts'
import type { settings } from '../../lib/model/settings.ts'
import {
  type SimulatedHotAisle,
  type SimulatedHotAisleOptions,
  startSimulatedHotAisle,
} from '../clouds/hotaisle/simulated-hot-aisle.ts'
import { type SimulatedOci, startSimulatedOci } from '../clouds/oci/simulated-oci.ts'
import { createMachineHost } from '../machines/machine-host-local.ts'

export type CloudTimings = { hotaisle?: SimulatedHotAisleOptions['timings'] }

export type SimulatedClouds = {
  hotaisle: SimulatedHotAisle
  oci: SimulatedOci
  machines: ReturnType<typeof createMachineHost>
  /** What `berth.yml` would say of them. */
  settings: z.input<typeof settings>
  /** Where each cloud shows its bill to people. */
  ledgers: string[]
  stop(): Promise<void>
}

/** The clouds and the machines in them, with what they remember in `folder`. */
export const startSimulatedClouds = async (options: {
  folder: string
  clock: Clock
  timings?: CloudTimings | undefined
  /** By which requests are signed, where that is not the computer's. */
  wallClock?: Clock
}): Promise<SimulatedClouds> => {
  const { clock } = options
  const stateFile = (cloud: string) => join(options.folder, 'clouds', `${cloud}.json`)
  mkdirSync(join(options.folder, 'clouds'), { recursive: true })
  const machines = createMachineHost({ folder: join(options.folder, 'machines') })
  const [hotaisle, oci] = await Promise.all([
    startSimulatedHotAisle({
      clock,
      machines,
      stateFile: stateFile('hotaisle'),
      timings: options.timings?.hotaisle ?? {},
    }),
    startSimulatedOci({
      clock,
      machines,
      stateFile: stateFile('oci'),
      ...(options.wallClock && { wallClock: options.wallClock }),
    }),
  ])
  return {
    hotaisle,
    oci,
    machines,
    settings: { backends: [hotaisleSettings(hotaisle), ociSettings(oci)] },
    ledgers: [hotaisle.url, oci.endpoint].map((url) => `${new URL(url).origin}/_sandbox/ledger`),
    stop: async () => {
      await Promise.all([hotaisle.stop(), oci.stop()])
      await machines.close()
    },
  }
}

const hotaisleSettings = ({ team, apiKey, url }: SimulatedHotAisle) => ({
  type: 'hotaisle' as const,
  team_handle: team,
  creds: { type: 'api_key' as const, api_key: apiKey },
  bare_metal: true,
  api_url: url,
})

const ociSettings = ({ credentials, compartmentId, endpoint, sshPort }: SimulatedOci) => ({
  type: 'oci' as const,
  creds: {
    type: 'client' as const,
    user: credentials.userId,
    tenancy: credentials.tenancyId,
    fingerprint: credentials.fingerprint,
    key_content: credentials.privateKey,
    region: credentials.region,
  },
  compartment_id: compartmentId,
  endpoint,
  ssh_port: sshPort,
})
