import * as z from 'zod'
import { cents } from './money.ts'
import { backendType } from './offer.ts'

/** What one instance cost in one month of UTC. */
export const costLine = z.object({
  month: z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'write a month as 2026-12'),
  instanceId: z.string(),
  name: z.string(),
  backend: backendType.optional(),
  instanceType: z.string().optional(),
  /** Who asked for it: the name of an API key. */
  key: z.string(),
  fleet: z.string().optional(),
  cents,
  /** How long it was charged for in that month. */
  ms: z.int().nonnegative(),
})
export type CostLine = z.infer<typeof costLine>
