import * as z from 'zod'

/**
 * What a cloud's published lists said, judged and kept: the part of its offers that is the same for every account.
 * The rows belong to the backend that made them, and nobody else reads them.
 */
export const keptCatalogue = z.object({
  /** When the lists were read, in milliseconds since 1970. */
  madeAt: z.int(),
  rows: z.array(z.json()),
})
export type KeptCatalogue = z.infer<typeof keptCatalogue>
