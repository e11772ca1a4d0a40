/**
 * Which shapes are offered, by the beginning of their names. What is on no list is not offered: a new family has to be
 * looked at first (does the image boot on it, is the price whole).
 */
const offered = [
  'VM.Standard2.',
  'BM.Standard2.',
  'BM.Standard3.',
  'BM.Standard.E3.',
  'BM.Standard.E4.',
  'BM.Standard.E5.',
  'BM.Optimized3.',
  'VM.GPU3.',
  'BM.GPU3.',
  'BM.GPU4.',
  // Not the same machine as BM.GPU4.8, and not in Oracle's price list: offered at a price that the owner sets.
  'BM.GPU.B4.',
  'VM.GPU.A10.',
  'BM.GPU.A10.',
  'BM.GPU.A100-v2.',
  'BM.GPU.H100.',
  'BM.GPU.H200.',
  'BM.GPU.L40S.',
]

/** Blackwell: the images should run, and nobody has booted one. Offered to owners who opt in. */
const experimental = ['BM.GPU.B200.', 'BM.GPU.B300.', 'BM.GPU.RTXPRO.']

const excluded: { pattern: RegExp; why: string }[] = [
  { pattern: /\.Flex$/i, why: 'a flexible shape needs a choice of size' },
  { pattern: /\.A1\./, why: 'Ampere hosts are arm64, the images are x86-64' },
  { pattern: /^BM\.GPU\.MI\d+X\./, why: 'no ROCm image is published for AMD Instinct' },
  { pattern: /^BM\.GPU\.GB\d+\./, why: 'Grace superchips are arm64 hosts, the images are x86-64' },
]

export type Family =
  | { is: 'offered' }
  /** Only to owners who asked for it. */
  | { is: 'experimental' }
  | { is: 'left'; why: string }

/** Whether shapes of such a name are offered. */
export const familyOf = (shape: string): Family => {
  const exclusion = excluded.find(({ pattern }) => pattern.test(shape))
  if (exclusion) return { is: 'left', why: exclusion.why }
  if (experimental.some((prefix) => shape.startsWith(prefix))) return { is: 'experimental' }
  if (offered.some((prefix) => shape.startsWith(prefix))) return { is: 'offered' }
  return { is: 'left', why: 'its family is not on the list of those that are offered' }
}
