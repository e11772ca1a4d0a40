import { Cron } from 'croner'
import { createHandler as idleCheckHandler } from '../../functions/idle-check.ts'
import { createHandler as keepFleetsHandler } from '../../functions/keep-fleets.ts'
import { createHandler as reconcileHandler } from '../../functions/reconcile.ts'
import { createHandler as refreshCatalogHandler } from '../../functions/refresh-catalog.ts'
import type { Context } from '../../lib/context.ts'
import { messageOf } from '../../lib/model/errors.ts'

/**
 * The functions that run by schedule: the sweep, the comparison of the clouds' lists with the table, and with real
 * clouds each day their published price lists. Seconds are real ones.
 */
export const startSchedules = (
  context: Context,
  options: { sweepSeconds: number; reconcileSeconds: number; refreshCatalogues: boolean },
): { stop: () => void } => {
  const get = async () => context
  const sweep = idleCheckHandler(get)
  const keepFleets = keepFleetsHandler(get)
  const reconcile = reconcileHandler(get)
  const refresh = refreshCatalogHandler(get)
  const failed = (what: string) => (error: unknown) =>
    context.log.error(`${what} failed; the next one makes it good`, { error: messageOf(error) })
  const sweeps = new Cron(
    '* * * * * *',
    { interval: options.sweepSeconds, protect: true, catch: failed('a sweep') },
    async () => {
      await sweep()
      await keepFleets()
    },
  )
  const reconciles = new Cron(
    '* * * * * *',
    { interval: options.reconcileSeconds, protect: true, catch: failed('a reconcile') },
    async () => {
      await reconcile()
    },
  )
  const refreshes = new Cron(
    '17 4 * * *',
    { protect: true, catch: failed('a refresh of the catalogue') },
    async () => {
      await refresh()
    },
  )
  if (options.refreshCatalogues) void refreshes.trigger()
  else refreshes.stop()
  return {
    stop: () => {
      sweeps.stop()
      reconciles.stop()
      refreshes.stop()
    },
  }
}
