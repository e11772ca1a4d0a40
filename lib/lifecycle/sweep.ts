import type { Context } from '../context.ts'
import { isDue } from '../model/due.ts'
import { hintNext } from './change.ts'

/** Most instances that one sweep takes of each of the 16 partitions; the rest is a minute later's. */
const perPartition = 200

/**
 * Finds what is due and hands it to its step. With it alone, every instance reaches its end, even if every other hint
 * gets lost; it costs what is due, not what exists.
 */
export const sweep = async (ctx: Context): Promise<{ due: number }> => {
  const now = ctx.clock.now()
  const due = (await ctx.store.due(now, perPartition)).filter((instance) => isDue(instance, now))
  await Promise.all(due.map((instance) => hintNext(ctx, instance)))
  return { due: due.length }
}
