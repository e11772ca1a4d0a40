import type { Context } from '../context.ts'
import { isDue } from '../model/due.ts'
import { messageOf } from '../model/errors.ts'
import type { Instance } from '../model/instance.ts'
import { formatDollars } from '../model/money.ts'
import { stepOf } from '../model/step.ts'
import { hintNext } from './change.ts'

/** Most instances that one sweep takes of each of the 16 partitions; the rest is a minute later's. */
const perPartition = 200
/** How long a step may be due before a person has to know; in a sandbox whose clock runs fast, some leases. */
const stuckAfterMs = 900_000
const stuckAfterLeases = 4
/** How often one that is stuck is handed on, and told about. */
const stuckPauseMs = 600_000
/** Sweeps come a little early or late: the tenth since the last time is to find the pause over. */
const slackMs = 30_000

/** Clouds and machines it leaves to the steps. */
type SweepContext = Pick<Context, 'store' | 'queues' | 'clock' | 'log' | 'leaseMs'>

/**
 * Finds what is due and hands it to its step. With it alone, every instance reaches its end, even if every other hint
 * gets lost; it costs what is due, not what exists. What does not get done for long raises an alarm, and is handed on
 * less often, so that its failures do not fill the queues.
 */
export const sweep = async (ctx: SweepContext): Promise<{ due: number }> => {
  const now = ctx.clock.now()
  const due = (await ctx.store.due(now, perPartition)).filter((instance) => isDue(instance, now))
  const stuckMs = Math.max(stuckAfterMs, stuckAfterLeases * ctx.leaseMs)
  await Promise.all(
    due.map((instance) =>
      now - (instance.nextCheckAt ?? now) > stuckMs
        ? handOnStuck(ctx, instance, now)
        : hintNext(ctx, instance),
    ),
  )
  return { due: due.length }
}

const handOnStuck = async (ctx: SweepContext, instance: Instance, now: number): Promise<void> => {
  if (!(await isItsTurn(ctx, instance, now))) return
  const step = stepOf(instance)
  const minutes = Math.floor((now - (instance.nextCheckAt ?? now)) / 60_000)
  const message =
    `its next step has been due for ${minutes} minutes and does not get done; ${moneyOf(instance)}; ` +
    `the log of ${step} and the dead letters say why`
  ctx.log.alarm('StuckInstance', message, {
    instanceId: instance.id,
    status: instance.status,
    phase: instance.phase,
    step,
    minutes,
    backend: instance.backend,
    cloudId: instance.machine?.cloudId,
  })
  await hintNext(ctx, instance)
}

/**
 * Whether the pause since it was last handed on is over. A lock remembers that, which counts no sweeps, so that late
 * or missed ones cost nothing; where it can't be had, the instance is handed on all the same.
 */
const isItsTurn = async (ctx: SweepContext, { id }: Instance, now: number): Promise<boolean> => {
  try {
    return await ctx.store.takeLock(`stuck:${id}`, `sweep at ${now}`, {
      now,
      until: now + stuckPauseMs - slackMs,
    })
  } catch (error) {
    ctx.log.warn('a stuck instance is handed on although its pause can not be read', {
      instanceId: id,
      error: messageOf(error),
    })
    return true
  }
}

const moneyOf = ({ machine, intent, pricePerHourCents = 0 }: Instance): string => {
  if (machine) return `its machine costs ${formatDollars(pricePerHourCents)} an hour meanwhile`
  return intent ? 'it may have rented a machine that costs money' : 'nothing is rented for it'
}
