import * as z from 'zod'
import { costLine } from '../model/cost.ts'
import { backendType } from '../model/offer.ts'
import { dollars } from './answers.ts'

const dollarLimit = z.object({ limit: dollars, used: dollars })
const limitsShown = {
  maxPricePerHour: dollarLimit.optional(),
  maxInstances: z.object({ limit: z.int(), used: z.int() }).optional(),
  monthlyBudget: dollarLimit.optional(),
}

/** What `GET /costs` answers. */
export const costsAnswer = z
  .object({
    month: costLine.shape.month,
    total: dollars,
    byBackend: z.array(z.object({ backend: z.string().nullable(), cost: dollars })),
    byKey: z.array(z.object({ key: z.string().nullable(), cost: dollars })),
    byFleet: z.array(z.object({ fleet: z.string().nullable(), cost: dollars })),
    instances: z
      .array(
        z.object({
          instanceId: z.string(),
          name: z.string(),
          backend: backendType.nullable(),
          instanceType: z.string().nullable(),
          key: z.string().meta({ description: 'The name of the API key that asked for it.' }),
          fleet: z.string().nullable(),
          hours: z
            .number()
            .nonnegative()
            .meta({ description: 'For which its cloud charges, in this month.' }),
          cost: dollars,
          running: z.boolean().meta({ description: 'Whether it costs more by the minute.' }),
        }),
      )
      .meta({ description: 'The dearest first.' }),
    limits: z
      .object({
        deployment: z.object(limitsShown).nullable(),
        keys: z.array(z.object({ key: z.string(), ...limitsShown })),
      })
      .meta({ description: 'Each limit that is set, with what of it is committed now.' }),
  })
  .meta({ id: 'Costs' })
export type CostsAnswer = z.infer<typeof costsAnswer>
