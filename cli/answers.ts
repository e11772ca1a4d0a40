import * as z from 'zod'

/** What of the API's answers is read here. What else they hold is carried through to `--json`. */
const resources = z.object({
  cpu: z.object({ arch: z.string(), count: z.number() }),
  memoryGb: z.number(),
  diskGb: z.number(),
  gpu: z.object({ name: z.string(), memoryGb: z.number(), count: z.number() }).nullable(),
  spot: z.boolean(),
})

const shownOffer = z.object({
  id: z.string(),
  backend: z.string(),
  region: z.string(),
  instanceType: z.string(),
  resources,
  pricePerHour: z.number(),
  availability: z.string(),
  minimumReservationMinutes: z.number(),
  minimumCharge: z.number(),
  instanceId: z.string().optional(),
})
export type ShownOffer = z.infer<typeof shownOffer>

export const shownError = z.object({ backend: z.string(), code: z.string(), message: z.string() })
export type ShownError = z.infer<typeof shownError>

export const shownOffers = z.object({ offers: z.array(shownOffer), errors: z.array(shownError) })
