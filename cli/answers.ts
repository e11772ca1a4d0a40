import * as z from 'zod'

/** What of the API's answers is read here. What else they hold is carried through to `--json`. */
const resources = z.object({
  cpu: z.object({ arch: z.string(), count: z.number() }),
  memoryGb: z.number(),
  diskGb: z.number(),
  gpu: z.object({ name: z.string(), memoryGb: z.number(), count: z.number() }).nullable(),
  spot: z.boolean(),
})

export const shownOffer = z.object({
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

const event = z.object({
  at: z.string(),
  status: z.string(),
  phase: z.string().nullable(),
  message: z.string(),
})

export const shownInstance = z.object({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  phase: z.string().nullable(),
  backend: z.string().nullable(),
  region: z.string().nullable(),
  zone: z.string().nullable(),
  instanceType: z.string().nullable(),
  resources: resources.nullable(),
  pricePerHour: z.number().nullable(),
  cloudId: z.string().nullable(),
  hostname: z.string().nullable(),
  sshPort: z.number().nullable(),
  sshUsername: z.string().nullable(),
  hostKeyFingerprint: z.string().nullable(),
  createdAt: z.string(),
  startedAt: z.string().nullable(),
  holder: z.string().nullable(),
  holdUntil: z.string().nullable(),
  lastActivityAt: z.string().nullable(),
  idleSince: z.string().nullable(),
  unreachableSince: z.string().nullable(),
  idleDuration: z.string(),
  maxDuration: z.string(),
  reservedUntil: z.string().nullable(),
  releaseAt: z.string().nullable(),
  terminationReason: z.string().nullable(),
  terminationMessage: z.string().nullable(),
  terminatedAt: z.string().nullable(),
  hardware: z.object({ verdict: z.string(), differences: z.array(z.string()) }).nullable(),
  accruedCost: z.number(),
  minimumCharge: z.number().nullable(),
})
export type ShownInstance = z.infer<typeof shownInstance>

export const withHistory = shownInstance.extend({ events: z.array(event) })
export const ended = shownInstance.extend({ forfeited: z.string().optional() })

export const instancesPage = z.object({
  instances: z.array(shownInstance),
  cursor: z.string().optional(),
})

const shownReservation = z.object({
  instanceId: z.string(),
  backend: z.string().nullable(),
  instanceType: z.string().nullable(),
  startedAt: z.string().nullable(),
  reservedUntil: z.string().nullable(),
  pricePerHour: z.number().nullable(),
  minimumCharge: z.number().nullable(),
  state: z.string().nullable(),
})

export const reservationsPage = z.object({
  reservations: z.array(shownReservation),
  cursor: z.string().optional(),
})
