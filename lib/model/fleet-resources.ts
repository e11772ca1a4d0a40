import * as z from 'zod'
import { partOf, textOr } from './file-part.ts'
import { parseCount, parseMemory, type Range } from './range.ts'
import { parseCpu, parseGpu, type Requirements } from './requirements.ts'
import { architecture, gpuVendor } from './resources.ts'
import { textBy, textOrNumber } from './text-by.ts'

/** A range as text (`8..`, `64GB..`), or with its ends as keys, as dstack takes it. */
const rangeBy = (parse: (text: string) => Range) => {
  const bound = textOrNumber(undefined, 50)
  const ends = partOf(z.strictObject({ min: bound.optional(), max: bound.optional() }))
  const spelled = ends.transform(({ min = '', max = '' }): string | number => `${min}..${max}`)
  return textOr(textBy(parse), spelled.pipe(textBy(parse)))
}

const counts = rangeBy(parseCount)
const sizes = rangeBy(parseMemory)

const gpuParts = z.strictObject({
  vendor: z.string().toLowerCase().pipe(gpuVendor).optional(),
  name: z
    .union([z.string().max(200), z.array(z.string().max(32)).min(1)], 'write a name, or a list of names')
    .optional(),
  count: counts.default({ min: 1 }),
  memory: sizes.optional(),
})
const gpu = textOr(
  textBy(parseGpu),
  partOf(gpuParts, ['total_memory', 'compute_capability']).transform(({ vendor, name, count, memory }) => ({
    vendor,
    names: typeof name === 'string' ? name.split(',').map((each) => each.trim()) : name,
    count,
    memoryGb: memory,
  })),
)

const cpuParts = z.strictObject({ arch: architecture.optional(), count: counts.optional() })
const cpu = textOr(textBy(parseCpu), partOf(cpuParts))

/** `{size: 100GB..}`, or the size alone. */
const disk = textOr(
  textBy(parseMemory),
  partOf(z.strictObject({ size: sizes })).transform(({ size }) => size),
)

const parts = z.strictObject({
  gpu: gpu.optional(),
  cpu: cpu.default({ count: { min: 2 } }),
  memory: sizes.default({ min: 8 }),
  disk: disk.default({ min: 100 }),
})

/**
 * `resources` of a fleet file. What is left out is what dstack asks for by default. Source: ResourcesSpec in dstack's
 * `core/models/resources.py`.
 */
export const fleetResources = partOf(parts, ['shm_size'])
  .transform(
    (given): Requirements => ({
      gpu: given.gpu,
      cpu: given.cpu,
      memoryGb: given.memory,
      diskGb: given.disk,
    }),
  )
  .prefault({})
