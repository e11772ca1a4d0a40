import { createHash } from 'node:crypto'
import type { MachineHardware } from '../../machines/machine-host.ts'
import { type SimulatedShape, shapes } from './shapes.ts'

/** A Marketplace listing with the one package and image that it has in each of its regions. */
export type SimulatedListing = {
  name: string
  version: string
  /** For which GPUs its drivers are; `none` has none. */
  drivers: 'open' | 'proprietary' | 'none'
  driverVersion: string
  agreements: string[]
  /** Every region, if not said. */
  regions?: string[]
}

/** The one that a search finds beside the one that is meant stands before it. */
export const defaultListings: SimulatedListing[] = [
  { ...listing('dstack-cuda-0.14-beta', 'open'), driverVersion: '590.11' },
  listing('dstack-cuda-0.14', 'open'),
  listing('dstack-cuda-0.10', 'proprietary'),
  listing('dstack-0.14', 'none'),
  listing('dstack-0.14-beta', 'none'),
]

function listing(name: string, drivers: SimulatedListing['drivers']): SimulatedListing {
  return {
    name,
    version: name.replace(/^\D+/, ''),
    drivers,
    driverVersion: drivers === 'open' ? '580.167.08' : '535.54.03',
    agreements: ['terms-of-use', 'oracle-terms'],
  }
}

export const isIn = ({ regions }: SimulatedListing, region: string): boolean =>
  regions === undefined || regions.includes(region)

export const listingIdOf = ({ name }: SimulatedListing, region: string): string =>
  idOf('mktpublisting', region, name)

export const imageIdOf = ({ name }: SimulatedListing, region: string): string => idOf('image', region, name)

/** The same at every start, so that what was found once stays right. */
const idOf = (kind: string, region: string, name: string) => {
  const unique = createHash('sha256').update(`${region} ${name}`).digest('hex').slice(0, 56)
  return `ocid1.${kind}.oc1.${region}.aaaa${unique}`
}

/** What is really in a machine of this shape, as its tools show it under this image. */
export const hardwareOf = (
  shapeName: string,
  image: SimulatedListing,
  bootVolumeGb: number,
): MachineHardware => {
  const shape = shapes[shapeName]
  if (!shape) throw new Error(`the simulated OCI has no shape ${shapeName}`)
  return {
    arch: shape.arch,
    cpus: shape.ocpus * shape.threadsPerOcpu,
    threadsPerCore: shape.threadsPerOcpu,
    // Firmware and kernel keep some 3 % of what is advertised.
    memoryKib: Math.floor(shape.memoryGb * 2 ** 20 * 0.97),
    rootDiskBytes: Math.floor(bootVolumeGb * 2 ** 30 * 0.97),
    localDisks: [],
    gpus: gpusOf(shape, image),
  }
}

/** Open kernel modules drive no GPU older than Turing; without any driver none is seen. */
const gpusOf = ({ gpus }: SimulatedShape, { drivers, driverVersion }: SimulatedListing) => {
  if (gpus === null || drivers === 'none') return null
  if (drivers === 'open' && gpus.gpu.generation === 'older') return null
  const { name, memoryMib } = gpus.gpu
  const vendor = name.startsWith('AMD') ? ('amd' as const) : ('nvidia' as const)
  return { vendor, name, memoryMib, count: gpus.count, driverVersion }
}
