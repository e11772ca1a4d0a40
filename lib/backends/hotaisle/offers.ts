import { createHash } from 'node:crypto'
import * as z from 'zod'
import { costOf } from '../../model/money.ts'
import type { Offer, OfferError } from '../../model/offer.ts'
import type { Resources } from '../../model/resources.ts'
import type { HotAisleSettings } from '../../model/settings.ts'
import { offerRow, type Specs, specs } from './answers.ts'
import type { Api } from './api.ts'
import { wordsOfAnswer } from './client.ts'
import { instanceTypeOf, type Kind, kindNames, region } from './kinds.ts'

const minuteMs = 60_000

type Offers = { offers: Offer[]; errors: OfferError[] }

/** What Hot Aisle has for rent. One bad row, or one list that fails, takes nothing from the others. */
export const listOffers = async (api: Api, settings: HotAisleSettings): Promise<Offers> => {
  if (settings.regions && !settings.regions.includes(region)) {
    const wanted = settings.regions.join(', ')
    const message = `Hot Aisle has one region, "${region}"; the settings allow only ${wanted}. Add it to regions.`
    return { offers: [], errors: [problem('unknown_region', message)] }
  }
  const kinds: Kind[] = settings.bare_metal ? ['vm', 'bm'] : ['vm']
  const lists = await Promise.all(kinds.map((kind) => listKind(api, kind)))
  return {
    offers: lists.flatMap(({ offers }) => offers),
    errors: lists.flatMap(({ errors }) => errors),
  }
}

const listKind = async (api: Api, kind: Kind): Promise<Offers> => {
  const answer = await api.available(kind)
  if (answer.kind !== 'ok') {
    // 429 says nothing of what there is: it is to be asked again.
    const isSilence = answer.kind === 'unknown' || answer.status === 429
    const code = isSilence ? 'no_answer' : answer.status === 401 ? 'bad_credentials' : 'refused'
    const message = `The list of ${kindNames[kind]}s for rent could not be read: ${wordsOfAnswer(answer)}`
    const error = { ...problem(code, message), retryAfterMs: answer.retryAfterMs }
    return { offers: [], errors: [error] }
  }
  const offers = new Map<string, Offer>()
  const errors: OfferError[] = []
  for (const [index, raw] of answer.body.entries()) {
    const judged = judgeRow(kind, raw)
    const twin = 'offer' in judged ? offers.get(judged.offer.id) : undefined
    if ('offer' in judged && !twin) offers.set(judged.offer.id, judged.offer)
    else {
      // A create names Specs alone, so of two rows with the same it can't be said which one is sold.
      const [code, why] =
        'offer' in judged ? (['duplicate_row', 'another row has the same Specs'] as const) : judged.left
      errors.push(problem(code, `The ${kindNames[kind]} in row ${index + 1}${hint(raw)} is left out: ${why}`))
    }
  }
  return { offers: [...offers.values()], errors }
}

type Judged = { offer: Offer } | { left: readonly [code: string, why: string] }

const judgeRow = (kind: Kind, raw: unknown): Judged => {
  const row = offerRow.safeParse(raw)
  if (!row.success) return { left: ['unreadable_row', firstIssue(row.error)] }
  const seen = specs.safeParse(row.data.Specs)
  if (!seen.success) return { left: ['unreadable_row', `Specs.${firstIssue(seen.error)}`] }
  const price = row.data.OnDemandPrice
  if (!price) return { left: ['no_price', 'it has no price'] }
  const gpu = gpuOf(seen.data)
  if ('left' in gpu) return gpu
  const disks =
    kind === 'vm' ? { diskGb: gigabytes(seen.data.disk_capacity), localDisks: [] } : drivesOf(seen.data)
  if ('left' in disks) return disks

  const instanceType = instanceTypeOf(kind, gpu.count)
  const minutes = row.data.MinimumReservationMinutes
  return {
    offer: {
      id: `hotaisle/${region}/${instanceType}/${hashOf(row.data.Specs)}`,
      backend: 'hotaisle',
      region,
      zones: [],
      instanceType,
      resources: {
        cpu: { arch: 'x86', count: seen.data.cpu_cores },
        memoryGb: seen.data.ram_capacity / 2 ** 30,
        ...disks,
        gpu: { vendor: 'amd', name: 'MI300X', memoryGb: 192, count: gpu.count },
        spot: false,
      },
      pricePerHourCents: price,
      availability: row.data.Quantity === 0 ? 'not_available' : 'available',
      minimumReservationMinutes: minutes,
      minimumChargeCents: costOf(price, minutes),
      // The minimum at once, from then on by the started minute. Source: Hot Aisle's contract.
      billing: {
        microsPerHour: price * 10_000,
        stepMs: minuteMs,
        leastMs: minutes * minuteMs,
        startsAt: 'launch',
      },
      payload: { kind, specs: row.data.Specs },
    },
  }
}

type Left = { left: readonly [code: string, why: string] }

const gpuOf = (seen: Specs): { count: number } | Left => {
  const gpus = (seen.gpus ?? []).filter(({ count }) => count > 0)
  if (gpus.length === 0) return { left: ['no_gpus', 'it has no GPUs'] }
  const models = new Set(gpus.map(({ model }) => bareModel(model ?? '')))
  if (models.size > 1)
    return { left: ['mixed_gpus', `it has several kinds of GPU: ${[...models].join(', ')}`] }
  if (!models.has('MI300X'))
    return { left: ['unknown_gpu', `its GPU is "${[...models].join()}", not MI300X`] }
  const count = gpus.reduce((sum, gpu) => sum + gpu.count, 0)
  if (count > 16) return { left: ['unreadable_row', `${count} GPUs in one machine`] }
  return { count }
}

/** `AMD Instinct MI300X` is MI300X. */
const bareModel = (model: string) =>
  model
    .toUpperCase()
    .replace(/\b(AMD|INSTINCT)\b/g, '')
    .trim()

/** Where the provider's image mounts the data drives. There is no number 4. */
const mountPaths = [0, 1, 2, 3, 5, 6, 7, 8].map((number) => `/mnt/nvme${number}n1p1`)

/** The system lives on one of the small M.2 drives; `disk_capacity` is all ten drives together. */
const drivesOf = (seen: Specs): Pick<Resources, 'diskGb' | 'localDisks'> | Left => {
  const drives = seen.disks ?? []
  const isBoot = ({ model }: { model?: string | null | undefined }) => /m\.2/i.test(model ?? '')
  const boot = drives.find(isBoot)
  if (!boot) return { left: ['no_boot_disk', 'it lists no M.2 drive, where the system would live'] }
  const data = drives
    .filter((drive) => !isBoot(drive))
    .flatMap(({ count, capacity }) => Array.from({ length: count }, () => capacity))
  const localDisks = mountPaths.flatMap((mountPath, index) => {
    const bytes = data[index]
    return bytes === undefined ? [] : [{ mountPath, sizeGb: gigabytes(bytes) }]
  })
  return { diskGb: gigabytes(boot.capacity), localDisks }
}

const gigabytes = (bytes: number) => Math.floor(bytes / 2 ** 30)

const problem = (code: string, message: string): OfferError => ({ backend: 'hotaisle', code, message })

const firstIssue = (error: z.ZodError) => {
  const [issue] = error.issues
  return issue ? `${issue.path.join('.') || 'the row'}: ${issue.message}` : 'not readable'
}

/** What tells a row from its neighbours, as far as it can be read. */
const hint = (raw: unknown): string => {
  const read = z.object({ Specs: z.object({ cpu_cores: z.number() }) }).safeParse(raw)
  return read.success ? ` (${read.data.Specs.cpu_cores} cores)` : ''
}

/** The same for the same Specs, in whatever order their keys come. */
const hashOf = (value: z.core.util.JSONType): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('hex')
    .slice(0, 8)

const sorted = (value: z.core.util.JSONType): z.core.util.JSONType => {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).map(([key, part]) => [key, sorted(part)] as const)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}
