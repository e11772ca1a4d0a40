import { terminatedAtOf } from './lifecycle.ts'
import { isBareMetal } from './shapes.ts'
import type { CloudState, SimulatedInstance } from './state.ts'

/** One instance as the bill shows it. Money in US cents, the price in millionths of a dollar. */
export type LedgerEntry = {
  instanceId: string
  displayName: string
  freeformTags: Record<string, string>
  region: string
  domain: string
  shape: string
  preemptible: boolean
  createdAt: number
  /** From here on it is charged; null where it never ran. */
  startedAt: number | null
  endedAt: number | null
  /** Its host was taken away; nobody asked for it. */
  interrupted: boolean
  pricePerHourMicros: number
  chargedCents(now: number): number
}

/** Every instance that was ever launched, also those that came to nothing. */
export const ledgerOf = (state: CloudState, now: number): LedgerEntry[] =>
  state.instances.map((instance) => ({
    instanceId: instance.id,
    displayName: instance.displayName,
    freeformTags: instance.freeformTags,
    region: instance.region,
    domain: instance.domainName,
    shape: instance.shape,
    preemptible: instance.preemptible,
    createdAt: instance.createdAt,
    startedAt: startOf(instance, now),
    endedAt: endOf(instance, now),
    interrupted: instance.interrupted,
    pricePerHourMicros: instance.pricePerHourMicros,
    chargedCents: (at) => chargeOf(instance, at),
  }))

/**
 * By the second from RUNNING to TERMINATED, a VM for a minute at least and bare metal for an hour; a part of a cent
 * counts as a whole one. Source: Oracle's announcement of per-second billing.
 */
const chargeOf = (instance: SimulatedInstance, now: number): number => {
  const start = startOf(instance, now)
  if (start === null) return 0
  const seconds = Math.ceil(((endOf(instance, now) ?? now) - start) / 1000)
  return Math.ceil(
    (instance.pricePerHourMicros * Math.max(isBareMetal(instance.shape) ? 3600 : 60, seconds)) /
      (3600 * 10_000),
  )
}

/** When it was RUNNING; null where it never was. */
export const startOf = (instance: SimulatedInstance, now: number): number | null => {
  // One that is given back while it boots never runs.
  const bootEnds = Math.min(now, instance.endedAt ?? now, terminatedAtOf(instance) ?? now)
  return instance.runningAt <= bootEnds ? instance.runningAt : null
}

const endOf = (instance: SimulatedInstance, now: number): number | null => {
  const end = terminatedAtOf(instance)
  return end !== null && end <= now ? end : null
}
