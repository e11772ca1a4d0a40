import * as z from 'zod'

const sighting = z.object({
  /** Milliseconds since 1970. */
  firstSeenAt: z.int(),
  /** A person was told of it. */
  told: z.boolean().optional(),
})

/** The machines in one cloud's list that no record explains, each under a key of its own. */
export const sightings = z.object({
  /** Rises with every write, from 1. */
  version: z.int().positive(),
  machines: z.record(z.string(), sighting),
})
export type Sightings = z.infer<typeof sightings>
