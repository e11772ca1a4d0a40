/**
 * The name of a GPU as offers write it, from what the vendor's tool prints: vendor words, memory and form factor go.
 * `NVIDIA H100 80GB HBM3` is H100, `Tesla V100-SXM2-16GB` is V100, `AMD Instinct MI300X VF` is MI300X. What is left
 * is compared whole, so A10 is never A100, nor H100 GH100. Undefined for placeholders.
 */
export const normaliseGpuName = (printed: string): string | undefined => {
  if (isPlaceholder(printed)) return undefined
  const words = printed
    .replace(/\((TM|R)\)/gi, ' ')
    .split(/[\s,/-]+/)
    .filter((word) => word !== '' && !dropped.some((pattern) => pattern.test(word)))
  return words.length === 0 ? undefined : words.join(' ')
}

/** What tools print in place of a value that they don't have. */
export const isPlaceholder = (text: string): boolean =>
  /^\[?\s*(N\/?A|not supported|unknown( error)?|none|null|)\s*\]?$/i.test(text.trim())

const dropped = [
  /^(NVIDIA|AMD|ATI|Tesla|GeForce|Quadro|Radeon|Instinct|Graphics|Corporation|Advanced|Micro|Devices|Inc\.?)$/i,
  // Form factor and how the GPU is passed to a VM.
  /^(SXM\d?|PCIe?|OAM|NVL\d*|VF|HPC|Accelerator)$/i,
  /^\d+(GB|GiB|G)$/i,
  /^HBM\d?e?$/i,
]
