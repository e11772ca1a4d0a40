import * as z from 'zod'
import { type Wanted, wanted } from './request.ts'

const instant = z.int()

/** What a fleet is to be: which machines, how many, and for how long an idle one above `min` stays. */
const fleetSpec = z.object({
  nodes: z.object({
    min: z.int().nonnegative(),
    /** How many an apply brings; from then on those that are idle above `min` go. */
    target: z.int().nonnegative(),
    /** Without one, as many as a fleet can have. */
    max: z.int().nonnegative().optional(),
  }),
  wanted,
  /** In milliseconds. */
  idleDuration: z.union([z.int().nonnegative(), z.literal('off')]),
})
export type FleetSpec = z.infer<typeof fleetSpec>

/** One place of a fleet: its number, and the instance in it, until that is terminated. */
const fleetNode = z.object({
  n: z.int().nonnegative(),
  instanceId: z.string(),
  /** It is on its way out, and that has been reckoned with: another may be rented for it. */
  left: z.boolean().optional(),
})

/** What came to nothing last, and what follows from it. */
const fleetFailure = z.object({
  /** How many times in a row; the pause grows with it. */
  count: z.int().nonnegative(),
  message: z.string(),
  at: instant,
  /** Until then none is rented for those that are missing. */
  retryAt: instant,
  /** One that was tried afterwards is in service, so that the others may follow. */
  isOver: z.boolean().optional(),
})
export type FleetFailure = z.infer<typeof fleetFailure>

/** The record of a fleet. Whatever makes a node or lets one go is written on its version, so that none is made twice. */
export const fleet = z.object({
  name: z.string(),
  version: z.int().nonnegative(),
  status: z.enum(['active', 'deleting']),
  spec: fleetSpec,
  /** How many nodes it is to have now: `target` after an apply, down to `min` as idle ones go. */
  desired: z.int().nonnegative(),
  nodes: z.array(fleetNode),
  failure: fleetFailure.optional(),
  /** Name of the API key that made it. */
  createdBy: z.string(),
  createdAt: instant,
  deletedAt: instant.optional(),
})
export type Fleet = z.infer<typeof fleet>

/** Whether a fleet is to be just as it was. */
export const isSameSpec = (one: FleetSpec, other: FleetSpec): boolean =>
  JSON.stringify(fleetSpec.parse(one)) === JSON.stringify(fleetSpec.parse(other))

export const isSameWanted = (one: Wanted, other: Wanted): boolean =>
  JSON.stringify(wanted.parse(one)) === JSON.stringify(wanted.parse(other))
