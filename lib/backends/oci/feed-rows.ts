import * as z from 'zod'

/**
 * Rows of Oracle's cost estimator, each to be read alone: quantities can be fractions, and fields that a shape should
 * have can be null.
 */

/** A feed is a list of rows of any form. */
export const feed = z.object({ items: z.array(z.unknown()) })

const quantity = z.number().nullish()
const word = z.object({ value: z.string() })

export const shapeRow = z.object({
  name: z.string().trim().min(1),
  hidden: z.boolean(),
  status: z.string(),
  allowPreemptible: z.boolean().nullish(),
  /** GB. */
  bundleMemoryQty: quantity,
  gpuQty: quantity,
  /** GB of all GPUs together, but for rows where it is of one. */
  gpuMemoryQty: quantity,
  processorType: word.nullish(),
  shapeType: word,
  subType: word,
  products: z.array(z.object({ partNumber: z.string(), qty: quantity, type: word })),
})
export type ShapeRow = z.infer<typeof shapeRow>

export const productRow = z.object({
  partNumber: z.string(),
  billingModel: z.string(),
  pricetype: z.string(),
  currencyCodeLocalizations: z.array(
    z.object({
      currencyCode: z.string(),
      prices: z.array(z.object({ model: z.string(), value: z.number() })),
    }),
  ),
})
export type ProductRow = z.infer<typeof productRow>
