import { generateKeyPairSync } from 'node:crypto'
import { shippedCatalogue } from '../../lib/backends/oci/known-catalogue.ts'
import type { BackendSettings } from '../../lib/model/settings.ts'
import { createHotAisleCloud } from '../../sandbox/clouds/hotaisle/simulated-hot-aisle.ts'
import { defaultStock } from '../../sandbox/clouds/hotaisle/stock.ts'
import { fingerprintOf } from '../../sandbox/clouds/oci/key-pair.ts'
import { createOciCloud } from '../../sandbox/clouds/oci/simulated-oci.ts'
import { defaultStock as ociStock } from '../../sandbox/clouds/oci/stock.ts'
import { createMachinesInMemory } from '../fakes/machines-in-memory.ts'
import type { Dice } from '../support/dice.ts'
import type { Cloud } from './faults.ts'
import type { Timeline } from './timeline.ts'

/** One machine that was ever rented, as its cloud's books have it, not as Berth believes. */
export type Rented = {
  cloud: Cloud
  /** Names the rental for ever. */
  id: string
  /** As Berth names it: the slot at Hot Aisle, the OCID at OCI. */
  cloudId: string
  mark: string
  startedAt: number
  /** End of what was paid in advance. */
  prepaidUntil: number
  /** Money runs, or would if it were up. */
  isLive: boolean
  /** The cloud shows it no more. */
  isGone: boolean
  /** Name of its machine in the host. */
  machineId: string
}

export type Clouds = Awaited<ReturnType<typeof createClouds>>

/** One for all runs, and shorter than OCI would take: most of the time of a run goes into signatures. */
const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 512,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})

const fingerprint = fingerprintOf(publicKey)

/** The key is another one in each process; nothing else is. */
export const withoutKey = (line: string): string => line.replaceAll(fingerprint, '<key>')

const frankfurt = 'eu-frankfurt-1'
const shapes = ['VM.GPU.A10.1', 'VM.Standard2.1', 'BM.GPU.A10.4']
const resetMs = 60_000
const minuteMs = 60_000

/** VMs with four GPUs, that nobody but strangers asks for. */
const forStrangers = defaultStock.flatMap((row) => {
  const gpus = [{ count: 4, manufacturer: 'AMD', model: 'MI300X' }]
  return row.minimumMinutes === 60 ? [{ ...row, pricePerHourCents: 796, specs: { ...row.specs, gpus } }] : []
})

/** Both simulated clouds, small ones, with the books of what was rented in them. */
export const createClouds = async ({ timeline, dice }: { timeline: Timeline; dice: Dice }) => {
  const machines = createMachinesInMemory()
  const random = () => dice.int(0, 2 ** 31 - 1) / 2 ** 31
  const clock = { now: timeline.now }
  // What bare metal charges at least; the real eight hours in a part of the runs, since they are long to simulate.
  const minimumMinutes = dice.pick([60, 60, 60, 60, 120, 120, 120, 480])
  const stock = [...defaultStock, ...forStrangers].map((row) =>
    row.kind === 'bm' ? { ...row, minimumMinutes } : row,
  )
  const hotaisle = await createHotAisleCloud({ clock, machines, stock, random, timings: { resetMs } })
  const domains = dice.chance(0.25) ? (3 as const) : (1 as const)
  const regions = [{ name: frankfurt, domains }]
  const ociRows = ociStock(regions).filter(({ shape }) => shapes.includes(shape))
  const oci = await createOciCloud({ clock, machines, regions, stock: ociRows, privateKey, random })

  const settings: BackendSettings[] = [
    {
      type: 'hotaisle',
      team_handle: hotaisle.team,
      creds: { type: 'api_key', api_key: hotaisle.apiKey },
      bare_metal: true,
      api_url: 'http://hotaisle/api',
    },
    {
      type: 'oci',
      creds: {
        type: 'client',
        user: oci.credentials.userId,
        tenancy: oci.credentials.tenancyId,
        fingerprint: oci.credentials.fingerprint,
        key_content: oci.credentials.privateKey,
        region: frankfurt,
      },
      regions: [frankfurt],
      compartment_id: oci.compartmentId,
      endpoint: 'http://oci/{service}/{region}',
      ssh_port: 10_022,
      experimental_shapes: false,
      prices: {},
      image_version: '0.14',
    },
  ]

  const rentedAtHotAisle = (): Rented[] =>
    hotaisle.ledger().map((entry) => ({
      cloud: 'hotaisle',
      id: entry.deploymentId,
      cloudId: entry.name,
      mark: entry.description,
      startedAt: entry.startedAt,
      prepaidUntil: entry.startedAt + entry.minimumMinutes * minuteMs,
      isLive: entry.endedAt === null,
      isGone: entry.endedAt !== null && timeline.now() >= entry.endedAt + resetMs,
      machineId: `hotaisle-${entry.deploymentId}`,
    }))

  const rentedAtOci = (): Rented[] =>
    oci.ledger().map((entry) => ({
      cloud: 'oci',
      id: entry.instanceId,
      cloudId: entry.instanceId,
      mark: entry.freeformTags.berth ?? '',
      startedAt: entry.createdAt,
      prepaidUntil: entry.createdAt,
      isLive: entry.endedAt === null,
      isGone: entry.endedAt !== null,
      machineId: `oci-${entry.instanceId.split('.').at(-1)}`,
    }))

  return {
    machines,
    hotaisle,
    oci,
    settings,
    stock: { hotaisle: stock, oci: ociRows },
    catalogue: { ...shippedCatalogue, madeAt: timeline.now() },
    rented: (cloud: Cloud): Rented[] => (cloud === 'oci' ? rentedAtOci() : rentedAtHotAisle()),
  }
}
