import * as z from 'zod'
import { shownError, shownOffer } from './answers.ts'

const node = z.object({
  name: z.string(),
  instanceId: z.string(),
  status: z.string(),
  phase: z.string().nullable(),
  backend: z.string().nullable(),
  region: z.string().nullable(),
  instanceType: z.string().nullable(),
  holder: z.string().nullable(),
  pricePerHour: z.number().nullable(),
  reservedUntil: z.string().nullable(),
  releaseAt: z.string().nullable(),
  message: z.string().nullable(),
})

export const shownFleet = z.object({
  name: z.string(),
  status: z.string(),
  desired: z.number(),
  missing: z.number(),
  missingBecause: z.string().nullable(),
  pricePerHour: z.number(),
  nodes: z.array(node),
})
export type ShownFleet = z.infer<typeof shownFleet>

export const shownFleets = z.object({ fleets: z.array(shownFleet) })

const planned = node.pick({
  name: true,
  status: true,
  backend: true,
  region: true,
  instanceType: true,
  holder: true,
  pricePerHour: true,
})

export const appliedFleet = z.object({
  fleet: shownFleet.nullable(),
  plan: z.object({
    action: z.string(),
    create: z.array(z.object({ name: z.string(), offer: shownOffer.nullable() })),
    keep: z.array(planned),
    remove: z.array(planned.extend({ message: z.string() })),
    pricePerHour: z.number(),
    minimumCharge: z.number(),
    totalPerHour: z.number(),
    messages: z.array(z.string()),
    errors: z.array(shownError),
  }),
})
export type FleetPlan = z.infer<typeof appliedFleet>['plan']
