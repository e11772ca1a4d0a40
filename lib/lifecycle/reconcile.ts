import type { Backend } from '../backends/backend.ts'
import type { Context } from '../context.ts'
import { messageOf } from '../model/errors.ts'
import type { Instance } from '../model/instance.ts'
import { toDollars } from '../model/money.ts'
import { everyLive } from './every-instance.ts'
import { compareRate } from './hourly-rate.ts'
import { endIfGone, inServiceAndMissing } from './lost.ts'
import { findOrphans, giveBackOrphan } from './orphans.ts'
import { namelessOf, rememberSightings } from './sightings.ts'
import { healSpend } from './spend-record.ts'

/** How long a machine that nobody explains may be, and how long a record's machine may not be listed yet. */
const graceMs = 600_000

type Found = { orphans: number; lost: number }

/**
 * Holds the list of each cloud against the table. A machine with our mark that no record leads to its end gets a record
 * that does; a record in service whose machine is gone ends. Clouds are looked at alone: trouble with one, or a list
 * that differs too much to be believed, touches nothing in that cloud and raises an alarm.
 */
export const reconcile = async (ctx: Context): Promise<Found> => {
  const clouds = await Promise.all(ctx.backends.map((backend) => alone(ctx, backend)))
  await healSpend(ctx)
  return {
    orphans: clouds.reduce((sum, { orphans }) => sum + orphans, 0),
    lost: clouds.reduce((sum, { lost }) => sum + lost, 0),
  }
}

const alone = async (ctx: Context, backend: Backend): Promise<Found> => {
  try {
    return await compare(ctx, backend)
  } catch (error) {
    return brake(ctx, backend, `it failed: ${messageOf(error)}`)
  }
}

const compare = async (ctx: Context, backend: Backend): Promise<Found> => {
  const listedAt = ctx.clock.now()
  const { complete, machines, message } = await backend.owned()
  if (!complete) return brake(ctx, backend, `the machines could not be listed in full: ${message}`)
  // Only now, in this order: the intent of a machine was written before it, so the table knows of all that are listed.
  const records = await liveOn(ctx, backend)
  count(ctx, backend, records)

  const { ours, unled } = await findOrphans(ctx, backend, machines, records)
  const seenSince = await rememberSightings(ctx, backend, graceMs, {
    unled: unled.map(({ machine }) => machine),
    nameless: namelessOf(machines, records),
  })
  const now = ctx.clock.now()
  const orphans = unled.flatMap((each) => {
    const since = seenSince(each.machine)
    return now - since >= graceMs ? { ...each, since } : []
  })
  const { inService, missing } = inServiceAndMissing(records, machines, listedAt - graceMs)

  if (isTooMany(orphans.length, ours))
    return brake(ctx, backend, `${orphans.length} of ${ours} machines with our mark have no record`)
  if (isTooMany(missing.length, inService))
    return brake(ctx, backend, `${missing.length} of ${inService} machines in service are not listed`)
  await compareRate(ctx, backend, machines, records)
  return {
    orphans: await countDone(ctx, orphans, (orphan) => giveBackOrphan(ctx, backend, orphan)),
    lost: await countDone(ctx, missing, (record) => endIfGone(ctx, backend, record)),
  }
}

const count = ({ log }: Context, { type }: Backend, records: Instance[]) => {
  const rented = records.filter(({ machine }) => machine)
  const cents = rented.reduce((sum, { pricePerHourCents }) => sum + (pricePerHourCents ?? 0), 0)
  log.metric('LiveMachines', rented.length, type)
  log.metric('IdleMachines', rented.filter(({ status }) => status === 'idle').length, type)
  log.metric('PricePerHour', toDollars(cents), type)
}

/** So much at once is a fault of a list, of the table or of ours, rather than of so many machines. */
const isTooMany = (count: number, all: number): boolean => count > 3 && count * 5 > all

const brake = (ctx: Context, { type }: Backend, why: string): Found => {
  const line = `nothing was touched on ${type}, since ${why}; a person should look whether machines cost money there`
  ctx.log.alarm('ReconcileBraked', line, { backend: type })
  return { orphans: 0, lost: 0 }
}

/** One after the other, since they are few; what fails is the next reconcile's. */
const countDone = async <Each>(ctx: Context, all: Each[], act: (one: Each) => Promise<boolean>) => {
  let done = 0
  for (const one of all) {
    try {
      if (await act(one)) done += 1
    } catch (error) {
      ctx.log.error('one machine could not be reconciled; the next time makes it good', {
        error: messageOf(error),
      })
    }
  }
  return done
}

const liveOn = async (ctx: Context, { type }: Backend): Promise<Instance[]> =>
  (await everyLive(ctx)).filter(({ backend }) => backend === type)
