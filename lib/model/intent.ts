import * as z from 'zod'

/**
 * What is written down before a paid call, so that whoever comes next can ask the cloud what came of it.
 * While an instance has an intent, nobody launches for it again: the intent must first be resolved.
 */
export const intent = z.object({
  /** Counts the paid calls of one instance, from 1. */
  attempt: z.int().positive(),
  offerId: z.string(),
  /** Set on the machine where the cloud has a place for it: says which Berth and which instance it is for. */
  mark: z.string(),
  /** Stable for the attempt; for clouds that know retry tokens. */
  token: z.string(),
  /** The lock that serialises such launches, held until the intent is resolved. */
  lock: z.string().optional(),
  /** The machines that existed just before the call, for clouds without a token. */
  existing: z.array(z.string()).optional(),
  /** The backend's own data of the offer, needed to launch and to recognise the machine. */
  payload: z.json(),
  /** Milliseconds since 1970. */
  writtenAt: z.int(),
  /** Set once the cloud's answer got lost: the outcome is being asked for. */
  unclearSince: z.int().optional(),
})
export type Intent = z.infer<typeof intent>
