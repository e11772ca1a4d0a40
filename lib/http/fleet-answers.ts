import * as z from 'zod'
import { fleetName } from '../model/fleet-file.ts'
import { backendType } from '../model/offer.ts'
import { spotPolicy } from '../model/request.ts'
import { phase, status } from '../model/status.ts'
import { dollars, offerAnswer, offerErrors, text, timeOrNull } from './answers.ts'

/** A node in short. */
const nodeFields = {
  name: z.string(),
  instanceId: z.string(),
  status,
  phase: phase.nullable(),
  backend: backendType.nullable(),
  region: text,
  instanceType: text,
  holder: text.meta({ description: 'The name of the API key that has claimed it.' }),
  pricePerHour: dollars.nullable(),
}

const namesOrNull = z.array(z.string()).nullable()

export const fleetAnswer = z
  .object({
    name: fleetName,
    status: z.enum(['active', 'deleting']),
    version: z.int(),
    createdAt: timeOrNull,
    createdBy: z.string(),
    deletedAt: timeOrNull,
    spec: z.object({
      nodes: z.object({ min: z.int(), target: z.int(), max: z.int().nullable() }),
      resources: z.string(),
      backends: namesOrNull,
      regions: namesOrNull,
      instanceTypes: namesOrNull,
      spotPolicy,
      maxPrice: dollars.nullable(),
      idleDuration: z.string(),
    }),
    desired: z.int().meta({ description: 'How many nodes it is to have now.' }),
    missing: z.int(),
    missingBecause: text,
    retryAt: timeOrNull.meta({ description: 'Until then nothing is rented for those that are missing.' }),
    pricePerHour: dollars.meta({ description: 'Of all nodes that live.' }),
    nodes: z.array(
      z.object({
        n: z.int(),
        ...nodeFields,
        idleSince: timeOrNull,
        reservedUntil: timeOrNull,
        releaseAt: timeOrNull,
        message: text,
      }),
    ),
  })
  .meta({ id: 'Fleet' })
export type FleetAnswer = z.infer<typeof fleetAnswer>

export const fleetList = z.object({ fleets: z.array(fleetAnswer) }).meta({ id: 'FleetList' })
export type FleetList = z.infer<typeof fleetList>

const planAnswer = z
  .object({
    action: z
      .enum(['create', 'update', 'none'])
      .meta({ description: 'none: the fleet is as the file says.' }),
    create: z
      .array(z.object({ name: z.string(), offer: offerAnswer.nullable() }))
      .meta({ description: 'Each with the best offer of now, or none where nothing fits.' }),
    keep: z.array(z.object(nodeFields)),
    remove: z.array(z.object({ ...nodeFields, reservedUntil: timeOrNull, message: z.string() })),
    pricePerHour: dollars.meta({ description: 'Of what is created.' }),
    minimumCharge: dollars.meta({ description: 'What is created has to be paid for so much at least.' }),
    totalPerHour: dollars.meta({ description: 'Of the whole fleet, once all of that is done.' }),
    messages: z.array(z.string()),
    errors: offerErrors,
  })
  .meta({ id: 'FleetPlan' })
export type PlanAnswer = z.infer<typeof planAnswer>

export const appliedFleet = z
  .object({ fleet: fleetAnswer.nullable(), plan: planAnswer })
  .meta({ id: 'AppliedFleet', description: '`fleet` is null in the plan of one that there is not.' })
export type AppliedAnswer = z.infer<typeof appliedFleet>
