import * as z from 'zod'
import { fromDollars } from './money.ts'
import { span } from './span.ts'

const dollars = z
  .number('write a number of US dollars, such as 500')
  .nonnegative()
  .max(100_000_000)
  .transform(fromDollars)

/** What may be spent, by the whole deployment or with one API key. What is not set is not limited. Money in cents. */
export const limits = z.strictObject({
  /** Of everything that runs at the same time. */
  max_price_per_hour: dollars.optional(),
  max_instances: z
    .int('write a whole number of instances, such as 2')
    .nonnegative()
    .max(1_000_000)
    .optional(),
  /** Of a month of UTC. */
  monthly_budget: dollars.optional(),
})
export type Limits = z.infer<typeof limits>

/** Of a deployment there is one more: nobody has an instance for longer than `max_duration`. */
export const deploymentLimits = limits.extend({ max_duration: span.optional() })
export type DeploymentLimits = z.infer<typeof deploymentLimits>

/** As they are kept with a key: read back as they were written. */
export const keptLimits = z.object({
  max_price_per_hour: z.int().nonnegative().optional(),
  max_instances: z.int().nonnegative().optional(),
  monthly_budget: z.int().nonnegative().optional(),
})

export const isLimited = ({ max_price_per_hour, max_instances, monthly_budget }: Limits): boolean =>
  max_price_per_hour !== undefined || max_instances !== undefined || monthly_budget !== undefined
