import * as z from 'zod'
import { billing } from './billing.ts'
import { hardwareCheck, hardwareVerdict } from './hardware.ts'
import { intent } from './intent.ts'
import { cents } from './money.ts'
import { backendType } from './offer.ts'
import { wanted } from './request.ts'
import { resources } from './resources.ts'
import { phase, status, terminationReason } from './status.ts'

/** Milliseconds since 1970. */
const instant = z.int()
const spanOrOff = z.union([z.int().nonnegative(), z.literal('off')])

/** One line of an instance's history. */
const instanceEvent = z.object({
  at: instant,
  status,
  phase: phase.optional(),
  message: z.string(),
})
export type InstanceEvent = z.infer<typeof instanceEvent>

/** What was prepaid when the machine was rented. `forfeited`: given back early because the caller said so. */
const reservation = z.object({
  until: instant,
  minimumMinutes: z.int().positive(),
  chargeCents: cents,
  state: z.enum(['active', 'released', 'forfeited']),
})

/** Who has the machine. Nobody else is given it while this stands. */
const claim = z.object({
  /** Name of the API key that claimed it. */
  holder: z.string(),
  since: instant,
  /** Kept that long whatever happens. */
  holdUntil: instant.optional(),
  /** Set once the holder was seen at work; before that the arrival grace holds. */
  active: z.boolean(),
})

/** The rented machine in the words of its cloud. */
const machine = z.object({
  cloudId: z.string(),
  /** Names this rental where `cloudId` names a slot that can be rented again. */
  rentalId: z.string().optional(),
  /** The mark of the intent that rented it. */
  mark: z.string(),
  /** The offer that it was rented by, as it stands in `tried`. */
  offer: z.string().optional(),
  hostname: z.string().optional(),
  sshPort: z.int().optional(),
  sshUsername: z.string().optional(),
  /** `SHA256:…`, pinned at the first connection. */
  hostKeyFingerprint: z.string().optional(),
  /** The cloud was asked once to install the system anew. */
  repairedAt: instant.optional(),
  shimVersion: z.string().optional(),
})
export type Machine = z.infer<typeof machine>

/** The record of one instance: one machine, from the request for it to the proof that it is gone. */
export const instance = z.object({
  id: z.string(),
  name: z.string(),
  /** Rises with every write; each write is conditional on the version that was read. */
  version: z.int().nonnegative(),
  status,
  phase: phase.optional(),
  createdAt: instant,
  /** Who asked for it: the name of an API key. */
  createdBy: z.string(),
  /** The fleet whose node it is. */
  fleet: z.string().optional(),
  wanted,
  hardwareCheck,
  idleDuration: spanOrOff,
  maxDuration: spanOrOff,
  /** From when `maxDuration` counts where the machine was taken over by a later request; else from `startedAt`. */
  maxDurationSince: instant.optional(),
  /** When it came into service, which its events no longer tell once they have moved off; old records lack it. */
  readyAt: instant.optional(),
  /** What holds again when a claim that brought other terms has ended: a node goes back to its fleet's. */
  ownTerms: z.object({ idleDuration: spanOrOff, maxDuration: spanOrOff }).optional(),
  /** May enter the machine, beside Berth's own key. */
  sshKeys: z.array(z.string()),
  /** The keys on the machine differ from `sshKeys`: a renter came or went. */
  sshKeysChanged: z.boolean().optional(),

  backend: backendType.optional(),
  region: z.string().optional(),
  zone: z.string().optional(),
  instanceType: z.string().optional(),
  resources: resources.optional(),
  pricePerHourCents: cents.optional(),
  minimumReservationMinutes: z.int().nonnegative().optional(),
  minimumChargeCents: cents.optional(),
  /** What its cloud charges; records of before there was a ledger lack it. */
  billing: billing.optional(),
  attempts: z.int().nonnegative(),
  intent: intent.optional(),
  /** Offers that this request need not try again, as `<offer id>` or `<offer id>@<zone>`. */
  tried: z.array(z.string()).optional(),

  machine: machine.optional(),
  /** When the machine was rented: money runs from here. */
  startedAt: instant.optional(),
  reservation: reservation.optional(),
  bootDeadline: instant.optional(),
  hardware: hardwareVerdict.optional(),

  claim: claim.optional(),
  lastActivityAt: instant.optional(),
  idleSince: instant.optional(),
  unreachableSince: instant.optional(),

  releaseAt: instant.optional(),
  force: z.boolean().optional(),
  /** When the cloud was first asked to take the machine back. */
  releaseAskedAt: instant.optional(),
  /** When it last agreed. */
  releasedAt: instant.optional(),
  terminationReason: terminationReason.optional(),
  terminationMessage: z.string().optional(),
  terminatedAt: instant.optional(),

  /** Visits since the last change of status or phase: what delays grow with. */
  visits: z.int().nonnegative(),
  /** When the next step is due. Until then every hint to take it is dropped: it is the lease of who works on it. */
  nextCheckAt: instant.optional(),
  /** When the sweep looks, in case the hint got lost: near `nextCheckAt`, moved only when it must be (see due.ts). */
  sweepAt: instant.optional(),
  events: z.array(instanceEvent),
})
export type Instance = z.infer<typeof instance>
