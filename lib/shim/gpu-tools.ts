import * as z from 'zod'
import { isPlaceholder, normaliseGpuName } from './gpu-name.ts'
import { jsonIn } from './shell.ts'

/** One entry a GPU; memory in GB of 2^30 bytes. A part that the tool doesn't say is missing. */
export type SeenGpus = {
  name: string | undefined
  memoryGb: number | undefined
  driverVersion: string | undefined
}[]

/** `nvidia-smi --query-gpu=name,memory.total,uuid,driver_version --format=csv,noheader,nounits`. */
export const parseNvidiaSmi = (text: string): SeenGpus | undefined => {
  const rows = text.split('\n').map((line) => line.split(',').map((field) => field.trim()))
  // Another number of fields is a sentence, such as the one about a GPU that fell off the bus.
  const gpus = rows.flatMap(([name, memory, uuid, driver]) =>
    name === undefined || memory === undefined || uuid === undefined || driver === undefined
      ? []
      : [{ name: normaliseGpuName(name), memoryGb: sizeInGb(memory, 'MiB'), driverVersion: valued(driver) }],
  )
  return gpus.length > 0 ? gpus : undefined
}

/** `amd-smi static --asic --vram --bus [--driver] --json`: rows in a list (ROCm 6) or in `gpu_data` (7 and later). */
export const parseAmdSmi = (text: string): SeenGpus | undefined =>
  amdSmiRows(text, amdGpu)?.map((gpu) => {
    const driver = Object.fromEntries(
      Object.entries(gpu.driver ?? {}).map(([key, value]) => [key.toLowerCase(), value]),
    )
    const size = gpu.vram?.size
    return {
      name: normaliseGpuName(gpu.asic?.market_name ?? ''),
      memoryGb:
        typeof size === 'object' && size !== null
          ? sizeInGb(String(size.value), size.unit ?? 'MB')
          : sizeInGb(String(size ?? ''), 'MB'),
      driverVersion: valued(driver.version ?? driver.driver_version),
    }
  })

/** `rocm-smi --showproductname --showmeminfo vram --json`: one key a card; spelling varies in case. */
export const parseRocmSmi = (text: string): SeenGpus | undefined => {
  const parsed = z.record(z.string(), z.record(z.string(), z.unknown())).safeParse(jsonIn(text))
  if (!parsed.success) return undefined
  const cards = Object.entries(parsed.data).filter(([key]) => /^card\d+$/.test(key))
  if (cards.length === 0) return undefined
  const driverVersion = valued(field(parsed.data.system ?? {}, 'driver version'))
  return cards.map(([, card]) => {
    const names = [field(card, 'card series'), field(card, 'card model')].map((name) => valued(name))
    const name = names.find((candidate) => candidate !== undefined && !/^0x/i.test(candidate))
    return {
      name: normaliseGpuName(name ?? ''),
      memoryGb: sizeInGb(String(field(card, 'vram total memory (b)') ?? ''), 'B'),
      driverVersion,
    }
  })
}

/** `nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits`: the busiest GPU, in percent. */
export const parseNvidiaUse = (text: string): number | undefined => busiest(text.split('\n'))

/** `amd-smi metric --usage --json`: the busiest GPU, in percent. `N/A` says nothing. */
export const parseAmdUse = (text: string): number | undefined =>
  busiest(
    (amdSmiRows(text, amdUse) ?? []).map(({ usage }) => {
      const busy = typeof usage === 'object' ? usage?.gfx_activity : undefined
      return String(typeof busy === 'object' ? busy?.value : busy)
    }),
  )

const scalar = z.union([z.string(), z.number()])

const amdGpu = z.object({
  asic: z.object({ market_name: z.string().optional() }).optional(),
  vram: z
    .object({
      size: z
        .union([scalar, z.object({ value: scalar, unit: z.string().optional() })])
        .nullish()
        .catch(undefined),
    })
    .optional(),
  driver: z.record(z.string(), z.unknown()).optional().catch(undefined),
})

const amdUse = z.object({
  usage: z
    .union([
      z.string(),
      z.object({ gfx_activity: z.union([scalar, z.object({ value: scalar.nullish() })]).nullish() }),
    ])
    .nullish(),
})

const amdSmiRows = <Row>(text: string, row: z.ZodType<Row>): Row[] | undefined => {
  const rows = z.array(row).min(1)
  const parsed = z.union([rows, z.object({ gpu_data: rows })]).safeParse(jsonIn(text))
  if (!parsed.success) return undefined
  return Array.isArray(parsed.data) ? parsed.data : parsed.data.gpu_data
}

const field = (card: Record<string, unknown>, name: string) =>
  Object.entries(card).find(([key]) => key.toLowerCase() === name)?.[1]

const valued = (value: unknown) =>
  typeof value === 'string' && !isPlaceholder(value) ? value.trim() : undefined

/** Both vendors write MB and GB for powers of two. */
const bytesOf: Record<string, number> = {
  B: 1,
  KB: 2 ** 10,
  KIB: 2 ** 10,
  MB: 2 ** 20,
  MIB: 2 ** 20,
  GB: 2 ** 30,
  GIB: 2 ** 30,
}

const sizeInGb = (text: string, defaultUnit: string) => {
  const match = /^(\d+(?:\.\d+)?)\s*([A-Za-z]*)$/.exec(text.trim())
  const factor = bytesOf[(match?.[2] || defaultUnit).toUpperCase()]
  if (!match || factor === undefined) return undefined
  const bytes = Number(match[1]) * factor
  return bytes > 0 ? Math.round((bytes / 2 ** 30) * 100) / 100 : undefined
}

const busiest = (values: string[]) => {
  const numbers = values.flatMap((value) => {
    const match = /^(\d+(?:\.\d+)?)\s*%?$/.exec(value.trim())
    return match ? [Number(match[1])] : []
  })
  return numbers.length > 0 ? Math.max(...numbers) : undefined
}
