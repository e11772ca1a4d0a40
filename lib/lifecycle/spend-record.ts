import { isDeepStrictEqual } from 'node:util'
import type { Context } from '../context.ts'
import type { Instance } from '../model/instance.ts'
import { isLimited } from '../model/limits.ts'
import {
  addLine,
  type Commitment,
  commitmentOf,
  recentMonths,
  type Spend,
  withCommitment,
} from '../model/spend.ts'
import { everyLive } from './every-instance.ts'

/** So long after it was made, whoever had read that there is no record has ended: no handler works longer. */
const uncertainMs = 120_000

type RecordContext = Pick<Context, 'store' | 'clock'>

/** What is committed where nobody has written it down yet. Its version 0 says so. */
export const newSpend = async (ctx: RecordContext): Promise<Spend> => {
  const now = ctx.clock.now()
  return { version: 0, madeAt: now, live: [], settled: await settledOf(ctx, now) }
}

/** A record so new that others may not know yet that it is to be written. */
export const stillUncertain = ({ madeAt }: Spend, now: number): boolean => now - madeAt < uncertainMs

/** With every live instance that the record does not know. */
export const withListed = async (ctx: RecordContext, spend: Spend): Promise<Spend> => {
  return withAll(spend, await everyLive(ctx))
}

const withAll = (spend: Spend, instances: Instance[]): Spend => {
  const missing = instances.filter(({ id }) => !spend.live.some((each) => each.id === id))
  return missing.reduce((known, instance) => withCommitment(known, commitmentOf(instance)), spend)
}

/**
 * Holds the record against the table, and makes it where a limit is set. What was written by a function that knew of
 * no limits yet, or by a person, is put right. False where nothing was wrong.
 */
export const healSpend = async (ctx: RecordContext & Pick<Context, 'settings' | 'log'>): Promise<boolean> => {
  const known = await ctx.store.spend()
  if (!known && !isLimited(ctx.settings.limits)) return false
  const before = known ?? (await newSpend(ctx))
  const listed = new Map((await everyLive(ctx)).map((instance) => [instance.id, instance]))
  const kept = await Promise.all(
    withAll(before, [...listed.values()]).live.map(async (commitment) => {
      const seen = listed.get(commitment.id)
      if (seen && isCountedIn(commitment, seen)) return [commitment]
      // Lists are a moment late, and the record of an instance is not.
      const instance = await ctx.store.get(commitment.id)
      if (!instance || instance.status === 'terminated') return []
      return [isCountedIn(commitment, instance) ? commitment : commitmentOf(instance)]
    }),
  )
  const live = kept.flat()
  if (known && isDeepStrictEqual(live, known.live)) return false
  const now = ctx.clock.now()
  const { version: _, ...rest } = { ...before, live, settled: await settledOf(ctx, now) }
  const isWritten = await ctx.store.putSpend({ before: known, next: rest })
  if (isWritten && known)
    ctx.log.warn('what counts towards the limits differed from what lives, and was put right', {
      counted: known.live.length,
      live: live.length,
    })
  return isWritten
}

const isCountedIn = (commitment: Commitment, instance: Instance): boolean => {
  const { bill, holder } = commitmentOf(instance)
  return (bill === undefined) === (commitment.bill === undefined) && holder === commitment.holder
}

const settledOf = async ({ store }: RecordContext, now: number): Promise<Spend['settled']> => {
  const lines = await Promise.all(recentMonths(now).map((month) => store.costs(month)))
  return lines.flat().reduce(addLine, {})
}
