import type { Context } from '../../lib/context.ts'
import { change, hintNext } from '../../lib/lifecycle/change.ts'
import { dueAt } from '../../lib/model/due.ts'
import type { Instance } from '../../lib/model/instance.ts'

/**
 * Takes up what an earlier process left: its hints are gone, and its leases are nobody's, since one folder has one
 * process. On AWS the same happens by itself, when the leases run out and the sweep looks.
 */
export const resume = async (ctx: Context): Promise<void> => {
  await Promise.all(
    (await living(ctx)).map(async (known) => {
      const { instance } = await change(ctx, known, (current) =>
        isLeased(current) ? { ...current, ...dueAt(current, ctx.clock.now()) } : undefined,
      )
      await hintNext(ctx, instance)
    }),
  )
}

/** Only these are worked on for long; a machine that is prepaid and on its way out has a date to wait for. */
const isLeased = (instance: Instance) => instance.status === 'provisioning'

const living = async (ctx: Context): Promise<Instance[]> => {
  const found: Instance[] = []
  let cursor: string | undefined
  do {
    const page = await ctx.store.list({ limit: 100, ...(cursor && { cursor }) })
    found.push(...page.instances)
    cursor = page.cursor
  } while (cursor)
  return found
}
