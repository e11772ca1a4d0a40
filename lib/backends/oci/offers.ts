import * as z from 'zod'
import type { BillingTerms } from '../../model/billing.ts'
import type { Clock } from '../../model/clock.ts'
import { costOf } from '../../model/money.ts'
import type { Offer, OfferError } from '../../model/offer.ts'
import type { Range } from '../../model/range.ts'
import type { OciSettings } from '../../model/settings.ts'
import type { CataloguePort } from '../backend.ts'
import { after, type Failure, isSilence, ok } from './answer.ts'
import type { Api } from './api.ts'
import { type RegionView, viewRegion } from './availability.ts'
import type { CatalogueShape } from './catalogue.ts'
import { untilKnown } from './compartment.ts'
import { knownShapes } from './known-catalogue.ts'
import type { Places } from './places.ts'
import { preemptiblePrice } from './prices.ts'
import { remember } from './remember.ts'

/** What an offer carries to its launch. */
export const payload = z.object({
  spot: z.boolean(),
  diskGb: z.int(),
  gpuName: z.string().nullable(),
  /** In which it is rented, and looked for, whatever the settings name by then; null while Berth's own is not made. */
  compartmentId: z.string().nullable().default(null),
})

type Offers = { offers: Offer[]; errors: OfferError[] }

const minuteMs = 60_000
/** What a boot volume can be. Source: OCI's documentation of block volumes. */
const smallestDiskGb = 50
const largestDiskGb = 32_768
const usualDiskGb = 100

/** What OCI has for rent. A region that fails takes nothing from the others. Never throws. */
export const createOffers = (options: {
  api: Api
  places: Places
  catalogues: CataloguePort
  settings: Pick<OciSettings, 'prices' | 'experimental_shapes'>
  clock: Clock
}): ((wanted: { diskGb?: Range | undefined }) => Promise<Offers>) => {
  const { api, places, clock } = options
  const known = remember(clock, minuteMs, async () => ok(await knownShapes(options)))
  const look = async (region: string) =>
    after(await places.regions(), async ({ tenancy }) =>
      after(await places.compartment(), async (compartmentId) =>
        after(await places.domains(region), async (domains) =>
          after(await known(''), ({ shapes }) =>
            viewRegion(
              api,
              // Before Berth's own compartment is made, the tenancy shows the same.
              { region, domains, compartmentId: compartmentId ?? tenancy },
              shapes.map(({ shape }) => shape),
            ),
          ),
        ),
      ),
    )
  const view = remember<RegionView>(clock, minuteMs, async (region) => untilKnown(places, await look(region)))

  return async (wanted) => {
    const catalogue = await known('')
    const regions = await places.regions()
    if (catalogue.kind === 'failed') return { offers: [], errors: [errorOf(catalogue)] }
    if (regions.kind === 'failed') return { offers: [], errors: [errorOf(regions)] }
    const compartment = await places.compartment()
    if (compartment.kind === 'failed') return { offers: [], errors: [errorOf(compartment)] }
    const { shapes, errors } = catalogue.value
    const diskGb = diskFor(wanted.diskGb)
    const perRegion = await Promise.all(
      regions.value.wanted.map(async (region): Promise<Offers> => {
        const seen = await view(region)
        if (seen.kind === 'failed') return { offers: [], errors: [errorOf(seen, region)] }
        // What is missing is asked for again at once.
        if (seen.value.isPartial) view.forget(region)
        const payload = { diskGb, compartmentId: compartment.value ?? null }
        return {
          offers: shapes.flatMap((row) => offersOf(row, region, seen.value, payload)),
          errors: seen.value.troubles.map((trouble) => errorOf(trouble, region)),
        }
      }),
    )
    return {
      offers: perRegion.flatMap(({ offers }) => offers),
      errors: [...errors, ...regions.value.errors, ...perRegion.flatMap(({ errors }) => errors)],
    }
  }
}

/** The smallest boot volume in GB that is asked for; beyond what can be had, the nearest that can. */
export const diskFor = (wanted: Range | undefined): number => {
  const asked = wanted?.min ?? Math.min(usualDiskGb, wanted?.max ?? usualDiskGb)
  const whole = wanted?.min === undefined ? Math.floor(asked) : Math.ceil(asked)
  return Math.min(largestDiskGb, Math.max(smallestDiskGb, whole))
}

/** On demand, and preemptible where that can be had: two offers, so that one being sold out leaves the other. */
const offersOf = (
  row: CatalogueShape,
  region: string,
  seen: RegionView,
  same: { diskGb: number; compartmentId: string | null },
): Offer[] => {
  const within = seen.domains.flatMap(({ name, shapes }) => {
    const status = shapes.get(row.shape)
    return status === undefined ? [] : [{ name, status }]
  })
  const order = { available: 0, unknown: 1, out: 2 }
  const tries = within.toSorted((a, b) => order[a.status] - order[b.status])
  const best = tries[0]?.status
  const availability = best === undefined ? 'no_quota' : best === 'out' ? 'not_available' : best
  const offer = (spot: boolean): Offer => ({
    id: `oci/${region}/${row.shape}${spot ? '/spot' : ''}`,
    backend: 'oci',
    region,
    zones: tries.map(({ name }) => name),
    instanceType: row.shape,
    resources: {
      cpu: row.cpu,
      memoryGb: row.memoryGb,
      diskGb: same.diskGb,
      localDisks: [],
      gpu: row.gpu && { vendor: 'nvidia', ...row.gpu },
      spot,
    },
    ...moneyOf(row, spot),
    availability,
    billing: billingOf(row, spot),
    ...(row.experimental && { experimental: true }),
    payload: { ...same, spot, gpuName: row.gpu?.name ?? null },
  })
  return row.preemptible ? [offer(false), offer(true)] : [offer(false)]
}

/**
 * By the second, from when it runs: a VM for a minute at least, bare metal for an hour; preemptible at half the price.
 * Source: Oracle's announcement of per-second billing, and its price list.
 */
const billingOf = ({ shape, priceCents, priceMicros }: CatalogueShape, spot: boolean): BillingTerms => ({
  microsPerHour: Math.ceil((priceMicros ?? priceCents * 10_000) / (spot ? 2 : 1)),
  stepMs: 1000,
  leastMs: leastMinutes(shape) * minuteMs,
  startsAt: 'running',
})

const leastMinutes = (shape: string): number => (shape.startsWith('BM.') ? 60 : 1)

/**
 * Nothing is prepaid: the least is charged once the machine runs, and one that is given back while it boots costs
 * nothing. So it is said with the offer, and no reservation is made of it. A VM's minute is not worth a word.
 */
const moneyOf = ({ shape, priceCents }: CatalogueShape, spot: boolean) => {
  const pricePerHourCents = spot ? preemptiblePrice(priceCents) : priceCents
  const minutes = leastMinutes(shape)
  const minimumChargeCents = minutes > 1 ? costOf(pricePerHourCents, minutes) : 0
  return { pricePerHourCents, minimumReservationMinutes: 0, minimumChargeCents }
}

const errorOf = (failure: Failure, region?: string): OfferError => {
  const code = failure.status === 401 ? 'bad_credentials' : isSilence(failure) ? 'no_answer' : 'refused'
  const where = region === undefined ? 'OCI' : `OCI in ${region}`
  const message = `${where} could not be asked for everything: ${failure.message}`
  return { backend: 'oci', code, message, retryAfterMs: failure.retryAfterMs }
}
