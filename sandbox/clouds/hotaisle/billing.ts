import type { CloudState, SimulatedRental } from './state.ts'

/** One rental as the bill shows it. Money in US cents. */
export type LedgerEntry = {
  kind: 'vm' | 'bm'
  name: string
  deploymentId: string
  description: string
  startedAt: number
  endedAt: number | null
  minimumMinutes: number
  pricePerHourCents: number
  /** The minimum from the start, then by the minute. */
  chargedCents(now: number): number
}

export const ledgerOf = (state: CloudState): LedgerEntry[] =>
  state.rentals.map((rental) => ({
    kind: rental.kind,
    name: rental.name,
    deploymentId: rental.deploymentId,
    description: rental.description,
    startedAt: rental.startedAt,
    endedAt: rental.endedAt,
    minimumMinutes: rental.minimumMinutes,
    pricePerHourCents: rental.pricePerHourCents,
    chargedCents: (now) => chargeOf(rental, now),
  }))

/** The answer of `GET balance`. */
export const balanceOf = (state: CloudState, now: number) => {
  const charging = state.rentals.filter(({ endedAt }) => endedAt === null)
  const shown = state.rentals.filter((rental) => isShown(rental, now))
  return {
    available_balance: balanceCents(state, now),
    hourly_rate: charging.reduce((sum, { pricePerHourCents }) => sum + pricePerHourCents, 0),
    virtual_machine_count: shown.filter(({ kind }) => kind === 'vm').length,
    bare_metal_server_count: shown.filter(({ kind }) => kind === 'bm').length,
  }
}

export const balanceCents = (state: CloudState, now: number): number =>
  state.rentals.reduce((left, rental) => left - chargeOf(rental, now), state.account.creditCents)

/** A machine is listed until its reset is done. */
export const isShown = (rental: SimulatedRental, now: number): boolean =>
  rental.goneAt === null || now < rental.goneAt

const chargeOf = (rental: SimulatedRental, now: number): number => {
  const minutes = Math.ceil(((rental.endedAt ?? now) - rental.startedAt) / 60_000)
  return priceOf(rental.pricePerHourCents, Math.max(minutes, rental.minimumMinutes))
}

/**
 * What so many minutes cost; a part of a cent counts as a whole one. The cloud's own arithmetic, not Berth's, so that
 * a bill that Berth got wrong shows. Cents and minutes are whole, so the quotient is exact where it is whole.
 */
export const priceOf = (pricePerHourCents: number, minutes: number): number =>
  Math.ceil((pricePerHourCents * minutes) / 60)
