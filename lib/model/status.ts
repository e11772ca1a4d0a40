import * as z from 'zod'
import { statuses } from './choices.ts'

export const status = z.enum(statuses)
export type Status = z.infer<typeof status>

/** Where a provisioning instance stands. */
export const phase = z.enum(['launching', 'booting', 'bootstrapping', 'verifying'])
export type Phase = z.infer<typeof phase>

export const terminationReason = z.enum([
  'terminated_by_user',
  'idle_timeout',
  'max_duration',
  'provisioning_timeout',
  'no_offers',
  'hardware_mismatch',
  'unreachable',
  'interrupted',
  'lost',
  'error',
])
export type TerminationReason = z.infer<typeof terminationReason>

/**
 * The whole state machine. Anything that lives may go to terminating; terminated is final, and only the
 * provider's confirmed absence leads there (see lifecycle/terminate.ts, its one writer).
 */
const next: Record<Status, readonly Status[]> = {
  pending: ['provisioning', 'terminating'],
  provisioning: ['idle', 'busy', 'terminating'],
  idle: ['busy', 'terminating'],
  busy: ['idle', 'terminating'],
  terminating: ['terminated'],
  terminated: [],
}

/** Whether an instance may go from one status to another; staying is always allowed, but for a final one. */
export const mayBecome = (from: Status, to: Status): boolean =>
  from === to ? from !== 'terminated' : next[from].includes(to)
