import { formatDollars } from '../../lib/model/money.ts'
import type { LocalBerth } from '../local/local-berth.ts'
import type { ProgressLine } from './progress-line.ts'

type Entry = {
  name: string
  startedAt: number
  endedAt: number | null
  pricePerHour: string
  chargedCents: number
}

/** What the simulated clouds have charged so far, in cents. */
export const chargedSoFar = (berth: LocalBerth): number =>
  entriesOf(berth).reduce((sum, { chargedCents }) => sum + chargedCents, 0)

/** The clouds' own bill: what it says counts. True for one machine that was charged once and is gone. */
export const showLedger = (berth: LocalBerth, line: ProgressLine): boolean => {
  const entries = entriesOf(berth)
  const left = entries.filter(({ endedAt }) => endedAt === null).length
  line.say("\nThe cloud's own ledger:")
  for (const { name, startedAt, endedAt, pricePerHour, chargedCents } of entries) {
    const hours = (((endedAt ?? berth.context.clock.now()) - startedAt) / 3_600_000).toFixed(2)
    line.say(`  ${name}: ${hours} h at ${pricePerHour} an hour, charged ${formatDollars(chargedCents)}`)
  }
  const rented = entries.length === 1 ? 'one machine, one charge' : `${entries.length} machines`
  line.say(`  ${rented}, ${left === 0 ? 'none' : left} left.`)
  return entries.length === 1 && left === 0
}

const entriesOf = ({ clouds, context }: LocalBerth): Entry[] => {
  const now = context.clock.now()
  const hotaisle = clouds?.hotaisle.ledger() ?? []
  const oci = clouds?.oci.ledger() ?? []
  return [
    ...hotaisle.map(({ name, startedAt, endedAt, pricePerHourCents, chargedCents }) => ({
      name,
      startedAt,
      endedAt,
      pricePerHour: formatDollars(pricePerHourCents),
      chargedCents: chargedCents(now),
    })),
    ...oci.map(({ displayName, startedAt, createdAt, endedAt, pricePerHourMicros, chargedCents }) => ({
      name: displayName,
      startedAt: startedAt ?? createdAt,
      endedAt,
      pricePerHour: formatDollars(pricePerHourMicros / 10_000),
      chargedCents: chargedCents(now),
    })),
  ]
}
