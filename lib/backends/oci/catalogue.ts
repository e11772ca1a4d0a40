import * as z from 'zod'
import { cents } from '../../model/money.ts'
import { architecture } from '../../model/resources.ts'
import { familyOf } from './families.ts'
import { feed, productRow, type ShapeRow, shapeRow } from './feed-rows.ts'
import { gpuMemoryOf, gpuNameOf } from './gpus.ts'
import { type Priced, priceOf, pricesOf } from './prices.ts'

/** One shape that may be offered, corrected and priced for a whole machine and hour. */
export const catalogueShape = z.object({
  shape: z.string(),
  cpu: z.object({ arch: architecture, count: z.int().positive() }),
  memoryGb: z.number().positive(),
  gpu: z.object({ name: z.string(), memoryGb: z.number().positive(), count: z.int().positive() }).nullable(),
  priceCents: cents,
  /** The same in millionths of a dollar, as it is charged; lists that were kept earlier lack it. */
  priceMicros: z.int().nonnegative().optional(),
  preemptible: z.boolean(),
  /** Offered only to those who asked for it. */
  experimental: z.boolean().optional(),
})
export type CatalogueShape = z.infer<typeof catalogueShape>

/** A row that is not offered, with the reason in words. */
export type LeftOut = { shape: string; why: string }

/**
 * Joins Oracle's two feeds. Each row is judged alone, and every row that is not offered is named with its reason.
 * Throws when a feed is no list at all.
 */
export const judgeFeeds = (
  shapesFeed: unknown,
  productsFeed: unknown,
): { shapes: CatalogueShape[]; left: LeftOut[] } => {
  const prices = pricesOf(
    feed.parse(productsFeed).items.flatMap((row) => productRow.safeParse(row).data ?? []),
  )
  const shapes = new Map<string, CatalogueShape>()
  const left: LeftOut[] = []
  for (const raw of feed.parse(shapesFeed).items) {
    const judged = judgeRow(raw, prices)
    if ('why' in judged) left.push(judged)
    else if (shapes.has(judged.shape))
      left.push({ shape: judged.shape, why: 'another row has the same name' })
    else shapes.set(judged.shape, judged)
  }
  return { shapes: [...shapes.values()], left }
}

const judgeRow = (raw: unknown, prices: Map<string, Priced>): CatalogueShape | LeftOut => {
  const read = shapeRow.safeParse(raw)
  if (!read.success) return { shape: nameOf(raw), why: `the row can't be read: ${firstIssue(read.error)}` }
  const row = read.data
  const shape = undecorated(row.name)
  const leave = (why: string): LeftOut => ({ shape, why })

  const unsold = notSold(row)
  if (unsold !== undefined) return leave(unsold)
  const family = familyOf(shape)
  if (family.is === 'left') return leave(family.why)

  const gpu = gpuOf(shape, row)
  if (typeof gpu === 'string') return leave(gpu)
  const ocpus = row.products.find(({ type }) => type.value === 'ocpu')?.qty
  if (!isWhole(ocpus)) return leave(`the feed does not say how many OCPUs it has (${ocpus ?? 'nothing'})`)
  const memoryGb = row.bundleMemoryQty
  if (!memoryGb || memoryGb < 0) return leave('the feed does not say how much memory it has')
  const priced = priceOf({ products: row.products, ocpus, gpuCount: gpu?.count }, prices)
  if ('why' in priced) return leave(priced.why)
  // What is kept is read as a whole, so that one row that can't be would cost all others.
  const judged = catalogueShape.safeParse({
    shape,
    cpu: vcpusOf(archOf(shape, row), ocpus),
    memoryGb,
    gpu,
    priceCents: priced.cents,
    priceMicros: priced.micros,
    preemptible: row.allowPreemptible === true,
    ...(family.is === 'experimental' && { experimental: true }),
  })
  return judged.data ?? leave(`it is no shape that can be: ${judged.error ? firstIssue(judged.error) : ''}`)
}

const notSold = (row: ShapeRow): string | undefined => {
  if (row.hidden) return 'it is hidden'
  if (row.status !== 'ACTIVE') return `its status is ${row.status}`
  if (!['vm', 'bm'].includes(row.shapeType.value)) return `it is of the type ${row.shapeType.value}`
  if (!['standard', 'gpu', 'optimized'].includes(row.subType.value))
    return `shapes of the subtype ${row.subType.value} are not offered`
  return undefined
}

/** The reason, in words, where the row says nothing that holds. */
const gpuOf = (shape: string, row: ShapeRow): CatalogueShape['gpu'] | string => {
  const name = gpuNameOf(shape)
  if (name === undefined)
    return row.gpuQty || row.subType.value === 'gpu' ? 'its name does not say which GPU it has' : null
  const count = row.gpuQty
  if (!isWhole(count)) return `the feed does not say how many GPUs it has (${count ?? 'nothing'})`
  const memoryGb = gpuMemoryOf(shape, name) ?? (row.gpuMemoryQty ?? 0) / count
  if (memoryGb <= 0) return `how much memory a ${name} has is not known`
  return { name, memoryGb, count }
}

/** The feed calls hosts of A10 and A100 arm, and hosts of Grace superchips not. */
const archOf = (shape: string, row: ShapeRow): CatalogueShape['cpu']['arch'] => {
  const gpuName = gpuNameOf(shape)
  if (gpuName !== undefined) return /^GB\d/.test(gpuName) ? 'arm' : 'x86'
  return row.processorType?.value === 'arm' ? 'arm' : 'x86'
}

/** An OCPU is a core: two threads on x86, one on arm. */
const vcpusOf = (arch: CatalogueShape['cpu']['arch'], ocpus: number): CatalogueShape['cpu'] => ({
  arch,
  count: arch === 'arm' ? ocpus : ocpus * 2,
})

/** `BM.GPU.GB200.4 (NVL72)` is BM.GPU.GB200.4 to the Compute API. */
const undecorated = (name: string) => name.replace(/\s*\(.*\)$/, '')

const isWhole = (value: number | null | undefined): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0

const nameOf = (raw: unknown): string => {
  const named = z.object({ name: z.string() }).safeParse(raw)
  return named.success ? named.data.name : 'a row without a name'
}

const firstIssue = ({ issues: [issue] }: z.ZodError) =>
  issue ? `${issue.path.join('.') || 'the row'}: ${issue.message}` : 'not readable'
