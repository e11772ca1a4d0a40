import type { Context } from '../context.ts'
import type { CostLine } from '../model/cost.ts'
import { isLimited, type Limits } from '../model/limits.ts'
import { type Usage, usageOf } from '../model/spend.ts'
import { billOf, costLineOf } from './billed.ts'
import { everyLive } from './every-instance.ts'
import { newSpend, withListed } from './spend-record.ts'

export type Cost = CostLine & { running: boolean }

/** What each instance cost in a month: those that have ended by the ledger, those that live by their bill so far. */
export const costsOf = async (ctx: Pick<Context, 'store' | 'clock'>, month: string): Promise<Cost[]> => {
  // In this order: one that ends meanwhile is in both, and in neither it would be the other way round.
  const live = await everyLive(ctx)
  const ended = await ctx.store.costs(month)
  const now = ctx.clock.now()
  const running = live.flatMap((instance) => {
    const bill = billOf(instance)
    if (!bill || ended.some(({ instanceId }) => instanceId === instance.id)) return []
    const line = costLineOf(instance, bill, month, now)
    return line.cents === 0 && line.ms === 0 ? [] : [{ ...line, running: true }]
  })
  return [...running, ...ended.map((line) => ({ ...line, running: false }))]
}

export type Limited = { limits: Limits; used: Usage }

/** The limits that are set, and what of them is used now. */
export const limitsInUse = async (
  ctx: Pick<Context, 'store' | 'clock' | 'settings'>,
): Promise<{ deployment?: Limited; keys: ({ key: string } & Limited)[] }> => {
  const limited = (await ctx.store.listApiKeys()).flatMap(({ name, limits }) =>
    limits && isLimited(limits) ? [{ key: name, limits }] : [],
  )
  const { limits } = ctx.settings
  if (limited.length === 0 && !isLimited(limits)) return { keys: [] }
  const spend = (await ctx.store.spend()) ?? (await withListed(ctx, await newSpend(ctx)))
  const now = ctx.clock.now()
  return {
    ...(isLimited(limits) && { deployment: { limits, used: usageOf(spend, now) } }),
    keys: limited.map((each) => ({ ...each, used: usageOf(spend, now, each.key) })),
  }
}
