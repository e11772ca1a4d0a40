import * as z from 'zod'
import { contains, formatRange, parseCount, parseMemory, range } from './range.ts'
import { architecture, gpuVendor, type Resources } from './resources.ts'
import { textBy } from './text-by.ts'

const gpuRequirement = z.object({
  vendor: gpuVendor.optional(),
  names: z.array(z.string()).optional(),
  memoryGb: range.optional(),
  count: range,
})
type GpuRequirement = z.infer<typeof gpuRequirement>

const cpuRequirement = z.object({ arch: architecture.optional(), count: range.optional() })
type CpuRequirement = z.infer<typeof cpuRequirement>

/** What a machine must have. A part that is missing asks for nothing. */
export const requirements = z.object({
  gpu: gpuRequirement.optional(),
  cpu: cpuRequirement.optional(),
  memoryGb: range.optional(),
  diskGb: range.optional(),
})
export type Requirements = z.infer<typeof requirements>

/**
 * What the parsers below take, for those who read the document of the API. A little more than that, never less: only
 * the parsers can say what is wrong.
 */
const nameList = String.raw`[A-Za-z][\w-]{0,31}(\s*,\s*[A-Za-z][\w-]{0,31})*`
const count = rangeOf(String.raw`\d{1,7}`)
const size = rangeOf(String.raw`\d{1,9}(\.\d{1,3})? ?([MmGgTt][Bb])?`)

/** The requirement texts of a request, in dstack's syntax, each parsed with an error that names its field. */
export const requirementFields = {
  gpu: parsed(parseGpu, {
    description:
      "GPUs in dstack's syntax: vendor or names, memory of one GPU, and count, in any order. Without a count, one or more.",
    pattern: listOf(`${nameList}|${size}|${count}`, 4),
    examples: ['MI300X:192GB:8', 'amd', 'nvidia:80GB..:2..', 'A100,H100:1..4', 8],
  }),
  cpu: parsed(parseCpu, {
    description: 'Architecture and count of CPUs.',
    pattern: listOf(`${architecture.options.join('|')}|${count}`, 2),
    examples: ['x86:8..16', '8..', 'arm', 8],
  }),
  memory: parsed(parseMemory, {
    description: 'Memory, in GB of 2^30 bytes. A bare amount is exact; ".." opens a side.',
    pattern: listOf(size, 1),
    examples: ['64GB..', '64GB..128GB'],
  }),
  disk: parsed(parseMemory, {
    description: 'The boot disk, in GB of 2^30 bytes. A bare amount is exact; ".." opens a side.',
    pattern: listOf(size, 1),
    examples: ['100GB..', '100GB..2TB'],
  }),
}

/** Whether a machine has what is asked for. Names compare without regard to case, and whole: A10 is not A100. */
export const fits = (wanted: Requirements, has: Resources): boolean =>
  gpuFits(wanted.gpu, has.gpu) &&
  (wanted.cpu?.arch === undefined || wanted.cpu.arch === has.cpu.arch) &&
  contains(wanted.cpu?.count ?? {}, has.cpu.count) &&
  contains(wanted.memoryGb ?? {}, has.memoryGb) &&
  contains(wanted.diskGb ?? {}, has.diskGb)

/** One line for messages: `gpu=MI300X:192GB:8 cpu=x86:8..`, or `anything`. */
export const formatRequirements = (wanted: Requirements): string => {
  const parts: string[] = []
  if (wanted.gpu) {
    const { vendor, names, memoryGb, count } = wanted.gpu
    const tokens = [vendor, names?.join(','), memoryGb && formatRange(memoryGb, 'GB'), formatRange(count)]
    parts.push(`gpu=${tokens.filter(Boolean).join(':')}`)
  }
  if (wanted.cpu) {
    const tokens = [wanted.cpu.arch, wanted.cpu.count && formatRange(wanted.cpu.count)]
    parts.push(`cpu=${tokens.filter(Boolean).join(':')}`)
  }
  if (wanted.memoryGb) parts.push(`memory=${formatRange(wanted.memoryGb, 'GB')}`)
  if (wanted.diskGb) parts.push(`disk=${formatRange(wanted.diskGb, 'GB')}`)
  return parts.length === 0 ? 'anything' : parts.join(' ')
}

/**
 * `MI300X:192GB:8`, `nvidia`, `amd:1..4`, `A100,H100:80GB..:2..`, `8`, in any order of the parts.
 * Without a count, one GPU or more. Throws with what is wrong.
 */
export function parseGpu(text: string): GpuRequirement {
  const found: Partial<GpuRequirement> = {}
  const once = <Key extends keyof GpuRequirement>(key: Key, value: GpuRequirement[Key], token: string) => {
    if (found[key] !== undefined)
      throw new Error(`"${token}": the ${partNames[key]} is given twice in "${text}"`)
    found[key] = value
  }
  for (const token of tokensOf(text, 'MI300X:192GB:8')) {
    const vendor = gpuVendor.safeParse(token.toLowerCase())
    if (vendor.success) once('vendor', vendor.data, token)
    else if (/^\d*(\.\.\d*)?$/.test(token)) once('count', positiveCount(token), token)
    else if (/^[\d.]+ ?(MB|GB|TB)|^\.\.[\d.]+ ?(MB|GB|TB)/i.test(token))
      once('memoryGb', parseMemory(token), token)
    else once('names', namesOf(token), token)
  }
  return { ...found, count: found.count ?? { min: 1 } }
}

/** `8`, `8..`, `x86:8..`, `arm`. Throws with what is wrong. */
export function parseCpu(text: string): CpuRequirement {
  const found: CpuRequirement = {}
  for (const token of tokensOf(text, 'x86:8..')) {
    const arch = architecture.safeParse(token.toLowerCase())
    if (arch.success && found.arch === undefined) found.arch = arch.data
    else if (!arch.success && found.count === undefined) found.count = parseCount(token)
    else throw new Error(`"${token}" is given twice in "${text}"; write for example "x86:8.."`)
  }
  return found
}

const partNames = { vendor: 'vendor', names: 'name', memoryGb: 'memory', count: 'count' } as const

const tokensOf = (text: string, example: string): string[] => {
  const tokens = text.split(':').map((token) => token.trim())
  if (tokens.includes('')) throw new Error(`"${text}" has an empty part; write for example "${example}"`)
  return tokens
}

const positiveCount = (token: string) => {
  const count = parseCount(token)
  if (count.max === 0) throw new Error('a GPU count must be at least 1; leave gpu out to ask for any machine')
  return count
}

const namesOf = (token: string): string[] => {
  const names = token.split(',').map((name) => name.trim())
  const odd = names.find((name) => !/^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(name))
  if (odd !== undefined) {
    throw new Error(
      `"${odd}" is not a GPU name, a memory size or a count; write for example "MI300X:192GB:8"`,
    )
  }
  return names
}

const gpuFits = (wanted: GpuRequirement | undefined, has: Resources['gpu']): boolean => {
  if (!wanted) return true
  // "0..2" asks for GPUs where there are any.
  if (!has) return wanted.count.min === 0
  return (
    (wanted.vendor === undefined || wanted.vendor === has.vendor) &&
    (wanted.names === undefined ||
      wanted.names.some((name) => name.toLowerCase() === has.name.toLowerCase())) &&
    contains(wanted.memoryGb ?? {}, has.memoryGb) &&
    contains(wanted.count, has.count)
  )
}

function rangeOf(bound: string): string {
  return String.raw`(${bound})(\s*\.\.\s*(${bound})?)?|\.\.\s*(${bound})`
}

/** At most so many parts with colons between them. */
function listOf(part: string, most: number): string {
  const more = most === 1 ? '' : String.raw`(\s*:\s*(${part})){0,${most - 1}}`
  return String.raw`^\s*(${part})${more}\s*$`
}

function parsed<Value>(
  parse: (text: string) => Value,
  { pattern, ...about }: { description: string; pattern: string; examples: (string | number)[] },
) {
  const taken = z.union(
    [z.string().max(200).meta({ pattern }), z.number().meta({ minimum: 0 })],
    `write for example ${about.examples[0]}`,
  )
  return textBy(parse, taken.meta(about)).optional()
}
