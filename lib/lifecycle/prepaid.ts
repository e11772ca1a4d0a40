import type { Instance } from '../model/instance.ts'

/** What was prepaid for a machine that was rented at `startedAt`, by the terms of its offer. */
export const prepaidFrom = (
  terms: Pick<Instance, 'minimumReservationMinutes' | 'minimumChargeCents'>,
  startedAt: number,
): Instance['reservation'] => {
  const minimumMinutes = terms.minimumReservationMinutes ?? 0
  if (minimumMinutes === 0) return undefined
  const until = startedAt + minimumMinutes * 60_000
  return { until, minimumMinutes, chargeCents: terms.minimumChargeCents ?? 0, state: 'active' }
}
