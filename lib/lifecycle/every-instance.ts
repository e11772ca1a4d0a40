import type { Context } from '../context.ts'
import type { Instance } from '../model/instance.ts'
import type { Status } from '../model/status.ts'

/**
 * Every instance that is not terminated, once, as it was read last. What is idle is listed behind what is in use: one
 * that gets a holder in between would be in neither, so that those with one are read again.
 */
export const everyLive = async (ctx: Pick<Context, 'store'>): Promise<Instance[]> => {
  const found = new Map<string, Instance>()
  for (const status of [undefined, 'busy'] as const) {
    for (const instance of await listAll(ctx, status)) found.set(instance.id, instance)
  }
  return [...found.values()]
}

/** Every page of those of a status, or of those that are not terminated. */
export const listAll = async ({ store }: Pick<Context, 'store'>, status?: Status): Promise<Instance[]> => {
  const found: Instance[] = []
  let cursor: string | undefined
  do {
    const page = await store.list({ limit: 100, ...(status && { status }), ...(cursor && { cursor }) })
    found.push(...page.instances)
    cursor = page.cursor
  } while (cursor)
  return found
}
