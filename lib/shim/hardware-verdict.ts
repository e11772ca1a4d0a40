import type { HardwareVerdict, ObservedHardware } from '../model/hardware.ts'
import type { Resources } from '../model/resources.ts'

/** Memory and disks count as whole from this share: firmware, the kernel and file systems keep the rest. */
const enough = 0.92

/**
 * Whether a machine is what was advertised. Each difference is one sentence that names both. What could not be read
 * speaks against the machine where GPUs are concerned, for they are what is paid for; elsewhere it says nothing.
 */
export const judgeHardware = (advertised: Resources, observed: ObservedHardware): HardwareVerdict => {
  const differences = [
    ...processors(advertised.cpu, observed),
    ...lacking('memory', observed.memoryGb, advertised.memoryGb),
    ...gpus(advertised.gpu, observed),
    ...lacking('root filesystem', observed.diskGb, advertised.diskGb),
    ...localDisks(advertised.localDisks, observed.localDisks),
  ]
  return { verdict: differences.length === 0 ? 'match' : 'mismatch', observed, differences }
}

/** Some clouds count cores and others threads; a machine that has the number as either has what was advertised. */
const processors = (advertised: Resources['cpu'], { arch, cpus, cores }: ObservedHardware): string[] => {
  const found: string[] = []
  if (arch !== undefined && arch !== advertised.arch)
    found.push(`the architecture is ${arch} where ${advertised.arch} is advertised`)
  if (cpus !== undefined && cpus !== advertised.count && cores !== advertised.count)
    found.push(`${counted(cpus, 'CPU')} where ${advertised.count} ${are(advertised.count)} advertised`)
  return found
}

const gpus = (advertised: Resources['gpu'], observed: ObservedHardware): string[] => {
  const { gpuVendor, gpuName, gpuMemoryGb, gpuCount, gpuError } = observed
  if (!advertised) return gpuCount ? [`${counted(gpuCount, 'GPU')} where none is advertised`] : []
  if (gpuError !== undefined || gpuCount === undefined)
    return [`GPUs could not be read: ${gpuError ?? 'nothing was said of them'}`]
  const found: string[] = []
  if (gpuCount !== advertised.count)
    found.push(`${counted(gpuCount, 'GPU')} where ${advertised.count} ${are(advertised.count)} advertised`)
  if (gpuVendor !== advertised.vendor)
    found.push(`the GPU vendor is ${gpuVendor ?? 'unknown'} where ${advertised.vendor} is advertised`)
  if (gpuName === undefined)
    found.push(`the GPU name could not be read where ${advertised.name} is advertised`)
  else if (gpuName.toLowerCase() !== advertised.name.toLowerCase())
    found.push(`the GPU is ${gpuName} where ${advertised.name} is advertised`)
  if (gpuMemoryGb === undefined)
    found.push(`the GPU memory could not be read where ${advertised.memoryGb} GB is advertised`)
  else found.push(...lacking('GPU memory', gpuMemoryGb, advertised.memoryGb))
  return found
}

const localDisks = (advertised: Resources['localDisks'], mounted: string[] | undefined): string[] =>
  mounted === undefined
    ? []
    : advertised
        .filter(({ mountPath }) => !mounted.includes(mountPath))
        .map(({ mountPath, sizeGb }) => `nothing is mounted at ${mountPath} where ${sizeGb} GB is advertised`)

const lacking = (what: string, seenGb: number | undefined, advertisedGb: number): string[] =>
  seenGb === undefined || seenGb >= advertisedGb * enough
    ? []
    : [`the ${what} is ${seenGb} GB where ${advertisedGb} GB is advertised`]

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

const are = (count: number) => (count === 1 ? 'is' : 'are')
