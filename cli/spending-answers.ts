import * as z from 'zod'

/** What of `GET /costs` and of the fleets is read here, beside what instances and offers are. */
const limit = z.object({ limit: z.number(), used: z.number() })
const limited = z.object({
  maxPricePerHour: limit.optional(),
  maxInstances: limit.optional(),
  monthlyBudget: limit.optional(),
})
export type Limited = z.infer<typeof limited>

export const shownCosts = z.object({
  month: z.string(),
  total: z.number(),
  byBackend: z.array(z.object({ backend: z.string().nullable(), cost: z.number() })),
  byKey: z.array(z.object({ key: z.string().nullable(), cost: z.number() })),
  byFleet: z.array(z.object({ fleet: z.string().nullable(), cost: z.number() })),
  instances: z.array(
    z.object({
      name: z.string(),
      backend: z.string().nullable(),
      instanceType: z.string().nullable(),
      key: z.string().nullable(),
      fleet: z.string().nullable(),
      hours: z.number(),
      cost: z.number(),
      running: z.boolean(),
    }),
  ),
  limits: z
    .object({
      deployment: limited.nullable(),
      keys: z.array(limited.extend({ key: z.string() })),
    })
    .nullish(),
})
export type ShownCosts = z.infer<typeof shownCosts>
