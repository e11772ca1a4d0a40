/** Names of shapes in which the GPU goes by its generation. */
const generations: Record<string, string> = { GPU2: 'P100', GPU3: 'V100', GPU4: 'A100', B4: 'A100' }

/**
 * Memory of one GPU in GB, since the feed's figure is sometimes of one GPU, mostly of all, and for some shapes wrong.
 * Source: the shape documentation of OCI and the GPUs' own data sheets.
 */
const memoryGb: Record<string, number> = {
  P100: 16,
  V100: 16,
  A10: 24,
  L40S: 48,
  H100: 80,
  H200: 141,
  GB200: 186,
  GB300: 278,
  MI300X: 192,
  MI355X: 288,
}

/** Both sizes of the A100 are sold. */
const memoryByFamily: [prefix: string, memoryGb: number][] = [
  ['BM.GPU.A100-v2.', 80],
  ['BM.GPU4.', 40],
  ['BM.GPU.B4.', 40],
]

/** Older than Turing: the open kernel modules don't run on them. */
const needsProprietaryModules = ['V100', 'P100', 'P40', 'P4', 'M60', 'M40', 'M4', 'K80', 'K40', 'K20']

/**
 * The GPU in a shape's name: `BM.GPU.A100-v2.8` is A100, `VM.GPU3.1` is V100. Parts are compared whole, so A10, A100
 * and A1 are three things.
 */
export const gpuNameOf = (shape: string): string | undefined => {
  const parts = shape.split(/[.-]/)
  const first = parts[1] ?? ''
  if (first !== 'GPU') return generations[first]
  const next = parts[2]
  return next === undefined ? undefined : (generations[next] ?? next)
}

/** Memory of one GPU of a shape in GB, as far as it is known. */
export const gpuMemoryOf = (shape: string, gpuName: string): number | undefined =>
  memoryByFamily.find(([prefix]) => shape.startsWith(prefix))?.[1] ?? memoryGb[gpuName]

/** Name of the Marketplace listing whose image a machine boots. */
export const listingOf = (gpuName: string | null, version: string): string => {
  if (gpuName === null) return `dstack-${version}`
  // The last one with the proprietary modules.
  if (needsProprietaryModules.includes(gpuName)) return 'dstack-cuda-0.10'
  return `dstack-cuda-${version}`
}
