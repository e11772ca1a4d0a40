import type { Backend, OwnedMachine } from '../backends/backend.ts'
import type { Context } from '../context.ts'
import type { Instance } from '../model/instance.ts'
import { formatDollars } from '../model/money.ts'
import { isSameMachine } from './same-machine.ts'

/**
 * Holds what the cloud charges by the hour against what Berth believes to run there, and tells a person when they
 * differ by the same amount at two looks: in between, machines come and go. Machines of others in the account have
 * prices that nobody knows, so with them only too low a rate says something.
 */
export const compareRate = async (
  ctx: Context,
  backend: Backend,
  machines: OwnedMachine[],
  records: Instance[],
): Promise<void> => {
  // What an open launch brings may be charged already.
  if (records.some(({ intent }) => intent !== undefined)) return
  const rate = await backend.hourlyRate()
  if (rate === undefined) return
  const running = records.filter(
    ({ machine, billing }) => machine !== undefined && billing?.until === undefined,
  )
  const believed = running.reduce((sum, { pricePerHourCents = 0 }) => sum + pricePerHourCents, 0)
  const hasOthers = machines.some(
    (listed) => !records.some(({ machine }) => machine !== undefined && isSameMachine(machine, listed)),
  )
  const differs = hasOthers ? rate < believed : rate !== believed
  const name = `${backend.type} hourly rate`
  const before = await ctx.store.sightings.get(name)
  const difference = `${rate - believed}`
  const known = before?.machines[difference]
  if (!differs) {
    if (Object.keys(before?.machines ?? {}).length > 0) await ctx.store.sightings.put(name, before, {})
    return
  }
  if (!known) {
    await ctx.store.sightings.put(name, before, { [difference]: { firstSeenAt: ctx.clock.now() } })
    return
  }
  ctx.log.alarm(
    'LedgerDiffers',
    `${backend.type} charges ${formatDollars(rate)} an hour, and Berth knows of machines for ${formatDollars(believed)} ` +
      `since ${new Date(known.firstSeenAt).toISOString()}: look in its console for what is charged and not listed, or listed and not charged`,
    { backend: backend.type, rate, believed },
  )
}
