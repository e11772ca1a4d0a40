import * as z from 'zod'
import { billingTerms } from './billing.ts'
import { backendTypes } from './choices.ts'
import { cents } from './money.ts'
import { resources } from './resources.ts'

export const backendType = z.enum(backendTypes)
export type BackendType = z.infer<typeof backendType>

/** dstack's words; `idle` is a machine that Berth holds already. */
const availability = z.enum(['available', 'unknown', 'not_available', 'no_quota', 'idle'])

/** A machine that can be had, with what it costs. `payload` belongs to its backend, and nobody else reads it. */
export const offer = z.object({
  /** The same as long as the backend lists the same thing at the same place. */
  id: z.string(),
  backend: backendType,
  region: z.string(),
  /** In the order in which they are to be tried; empty where the cloud has none. */
  zones: z.array(z.string()),
  instanceType: z.string(),
  resources,
  pricePerHourCents: cents,
  availability,
  minimumReservationMinutes: z.int().nonnegative(),
  minimumChargeCents: cents,
  billing: billingTerms,
  /** Nobody has run Berth's image on it yet; offered only to those who asked for such. */
  experimental: z.boolean().optional(),
  payload: z.json(),
})
export type Offer = z.infer<typeof offer>

/** One thing that went wrong while offers were gathered; the good rows stand beside it. */
export const offerError = z.object({
  backend: backendType,
  code: z.string(),
  message: z.string(),
  /** How long the cloud wants to be left in peace, in milliseconds, where it said so. */
  retryAfterMs: z.int().nonnegative().optional(),
})
export type OfferError = z.infer<typeof offerError>
