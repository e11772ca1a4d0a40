import * as z from 'zod'
import { problemCodes } from '../model/errors.ts'
import { hardwareVerdict } from '../model/hardware.ts'
import { backendType, offer, offerError } from '../model/offer.ts'
import { resources } from '../model/resources.ts'
import { phase, status, terminationReason } from '../model/status.ts'

/** What the API answers. The views have their types from here, and the document its schemas. */

const time = z.iso.datetime().meta({ id: 'Time', description: 'UTC, ISO 8601.' })
export const timeOrNull = time.nullable()
export const dollars = z
  .number()
  .nonnegative()
  .meta({ id: 'Dollars', description: 'US dollars; cents are exact.' })
export const text = z.string().nullable()
const shownResources = resources.meta({
  id: 'Resources',
  description: 'What a machine has. Sizes in GB of 2^30 bytes; disk is the boot disk alone.',
})

const instanceFields = z.object({
  id: z.string(),
  name: z.string(),
  fleet: text.meta({ description: 'The fleet whose node it is.' }),
  status: status.meta({
    id: 'Status',
    description:
      'idle is ready and unclaimed, busy is claimed. terminated is final, and shown only once the cloud has shown that the machine is gone.',
  }),
  phase: phase.nullable().meta({ description: 'Where a provisioning instance stands.' }),
  backend: backendType.nullable(),
  region: text,
  zone: text,
  instanceType: text,
  resources: shownResources.nullable(),
  pricePerHour: dollars.nullable(),
  cloudId: text.meta({ description: "The machine's id at its cloud." }),
  hostname: text,
  sshPort: z.int().nullable(),
  sshUsername: text,
  hostKeyFingerprint: text.meta({ description: 'Of its SSH host key, pinned at the first connection.' }),
  createdAt: time,
  startedAt: timeOrNull.meta({ description: 'When the machine was rented: money runs from here.' }),
  holder: text.meta({ description: 'The name of the API key that has claimed it.' }),
  holdUntil: timeOrNull,
  lastActivityAt: timeOrNull,
  idleSince: timeOrNull,
  unreachableSince: timeOrNull,
  idleDuration: z.string(),
  maxDuration: z.string(),
  reservedUntil: timeOrNull.meta({ description: 'The end of what is prepaid. Idle, it is kept until then.' }),
  releaseAt: timeOrNull.meta({ description: 'When a terminating machine is given back.' }),
  terminationReason: terminationReason.nullable(),
  terminationMessage: text,
  terminatedAt: timeOrNull,
  hardware: hardwareVerdict.nullable().meta({ description: 'What was found on the machine.' }),
  accruedCost: dollars.meta({
    description: 'What it has cost so far: the minimum at once, then by the started minute.',
  }),
  minimumCharge: dollars.nullable(),
})

export const instanceAnswer = instanceFields.meta({ id: 'Instance' })
export type InstanceAnswer = z.infer<typeof instanceAnswer>

const eventAnswer = z
  .object({ at: time, status, phase: phase.nullable(), message: z.string() })
  .meta({ id: 'Event', description: "A line of an instance's history." })
export type EventAnswer = z.infer<typeof eventAnswer>

export const instanceWithEvents = instanceFields
  .extend({ events: z.array(eventAnswer) })
  .meta({ id: 'InstanceWithEvents' })
export type InstanceWithEvents = z.infer<typeof instanceWithEvents>

export const deletedInstance = instanceFields
  .extend({
    forfeited: z.string().optional().meta({ description: 'What was paid for and is lost by force.' }),
  })
  .meta({ id: 'DeletedInstance' })
export type DeletedInstance = z.infer<typeof deletedInstance>

/** Where a list goes on; missing on its last page. */
const nextPage = {
  cursor: z.string().optional().meta({ description: 'Send it to get the next page. Missing on the last.' }),
}

export const instancePage = z
  .object({ instances: z.array(instanceAnswer), ...nextPage })
  .meta({ id: 'InstancePage' })
export type InstancePage = z.infer<typeof instancePage>

const reservationAnswer = z
  .object({
    instanceId: z.string(),
    backend: backendType.nullable(),
    cloudId: text,
    instanceType: text,
    startedAt: timeOrNull,
    reservedUntil: timeOrNull,
    minimumMinutes: z.int().nullable(),
    pricePerHour: dollars.nullable(),
    minimumCharge: dollars.nullable(),
    state: z
      .enum(['active', 'released', 'forfeited'])
      .nullable()
      .meta({ description: 'forfeited was given back early, because its user said so.' }),
  })
  .meta({ id: 'Reservation' })
export type ReservationAnswer = z.infer<typeof reservationAnswer>

export const reservationPage = z
  .object({ reservations: z.array(reservationAnswer), ...nextPage })
  .meta({ id: 'ReservationPage' })
export type ReservationPage = z.infer<typeof reservationPage>

export const offerAnswer = offer
  .omit({ payload: true, pricePerHourCents: true, minimumChargeCents: true, billing: true })
  .extend({
    resources: shownResources,
    pricePerHour: dollars,
    minimumCharge: dollars.meta({ description: 'What has to be paid at least, however short the use.' }),
    instanceId: z.string().optional().meta({ description: 'The idle instance that this offer is.' }),
  })
  .meta({ id: 'Offer' })
export type OfferAnswer = z.infer<typeof offerAnswer>

export const offerErrors = z
  .array(offerError.meta({ id: 'OfferError' }))
  .meta({ description: 'What a cloud could not answer. It takes nothing from the offers.' })

export const offerList = z
  .object({ offers: z.array(offerAnswer), errors: offerErrors })
  .meta({ id: 'OfferList' })
export type OfferList = z.infer<typeof offerList>

export const healthAnswer = z.object({ status: z.literal('ok') }).meta({ id: 'Health' })
export type HealthAnswer = z.infer<typeof healthAnswer>

/** RFC 9457. */
export const problemAnswer = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'What happened, what it means for your money, and what to do.' }),
    code: z.enum(problemCodes).meta({ description: 'Stable, for programs.' }),
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'For bad input: each field, and what is allowed there.' }),
  })
  .meta({ id: 'Problem', description: 'An error, as RFC 9457 has it.' })
export type ProblemAnswer = z.infer<typeof problemAnswer>

/** What API Gateway itself says, before any function is called. */
export const gatewayAnswer = z.object({ message: z.string() }).meta({ id: 'GatewayMessage' })
