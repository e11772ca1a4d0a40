import * as z from 'zod'
import { type KeptCatalogue, keptCatalogue } from '../../model/catalogue.ts'
import type { Clock } from '../../model/clock.ts'
import { messageOf } from '../../model/errors.ts'
import type { Cents } from '../../model/money.ts'
import type { OfferError } from '../../model/offer.ts'
import type { OciSettings } from '../../model/settings.ts'
import type { CataloguePort } from '../backend.ts'
import { type CatalogueShape, catalogueShape } from './catalogue.ts'
import shipped from './shipped-catalogue.json' with { type: 'json' }

/** What ships with the package, so that the first start has offers. Made by `test/support/make-oci-catalogue.ts`. */
export const shippedCatalogue: KeptCatalogue = keptCatalogue.parse(shipped)

const dayMs = 86_400_000
const oldAfterMs = 7 * dayMs

/** Shapes whose size is documented while the price list lacks them: a price that the owner sets makes each an offer. */
const unpriced: Omit<CatalogueShape, 'priceCents'>[] = [
  {
    // Returned by the Compute API: 128 OCPUs.
    shape: 'BM.GPU.B4.8',
    cpu: { arch: 'x86', count: 256 },
    memoryGb: 2048,
    gpu: { name: 'A100', memoryGb: 40, count: 8 },
    preemptible: false,
  },
]

/**
 * The shapes to offer with their prices, as Oracle's lists were last read and the owner's settings say, and what is
 * wrong with them. Never throws.
 */
export const knownShapes = async (options: {
  catalogues: CataloguePort
  settings: Pick<OciSettings, 'prices' | 'experimental_shapes'>
  clock: Clock
}): Promise<{ shapes: CatalogueShape[]; errors: OfferError[] }> => {
  const { settings, clock } = options
  const { kept, errors } = await newest(options.catalogues)
  const rows = z.array(catalogueShape).safeParse(kept.rows)
  const listed = rows.success ? rows.data : z.array(catalogueShape).parse(shippedCatalogue.rows)
  const madeAt = rows.success ? kept.madeAt : shippedCatalogue.madeAt
  const days = Math.floor((clock.now() - madeAt) / dayMs)
  if (clock.now() - madeAt > oldAfterMs) {
    const message =
      `Oracle's shapes and prices were last read ${days} days ago, so a price may be another by now. They are read ` +
      'anew once a day; if this stays, look for CatalogueFailed in the log of refresh-catalog.'
    errors.push(problem('catalogue_old', message))
  }
  const priced = withPrices(listed, settings.prices)
  return {
    shapes: priced.shapes.filter(
      (row) => !row.experimental || isAskedFor(row.shape, settings.experimental_shapes),
    ),
    errors: [...errors, ...priced.errors],
  }
}

const newest = async (catalogues: CataloguePort): Promise<{ kept: KeptCatalogue; errors: OfferError[] }> => {
  try {
    const kept = await catalogues.get('oci')
    return { kept: kept && kept.madeAt > shippedCatalogue.madeAt ? kept : shippedCatalogue, errors: [] }
  } catch (error) {
    const message = `The kept list of shapes could not be read (${messageOf(error)}); the one that ships is used.`
    return { kept: shippedCatalogue, errors: [problem('catalogue_unreadable', message)] }
  }
}

const withPrices = (listed: CatalogueShape[], prices: OciSettings['prices']) => {
  const known: (Omit<CatalogueShape, 'priceCents'> & { priceCents?: Cents })[] = [
    ...listed,
    ...unpriced.filter(({ shape }) => !listed.some((row) => row.shape === shape)),
  ]
  const shapes = known.flatMap((row): CatalogueShape[] => {
    const own = prices[row.shape]
    if (own !== undefined) return [{ ...row, priceCents: own, priceMicros: own * 10_000 }]
    return row.priceCents === undefined ? [] : [{ ...row, priceCents: row.priceCents }]
  })
  const errors = Object.keys(prices)
    .filter((shape) => !known.some((row) => row.shape === shape))
    .map((shape) =>
      problem(
        'unknown_shape',
        `The settings have a price for ${shape}, whose size is not known, so it is not offered. Known are ` +
          `${known.map((row) => row.shape).join(', ')}.`,
      ),
    )
  return { shapes, errors }
}

const isAskedFor = (shape: string, wanted: OciSettings['experimental_shapes']) =>
  typeof wanted === 'boolean' ? wanted : wanted.includes(shape)

const problem = (code: string, message: string): OfferError => ({ backend: 'oci', code, message })
