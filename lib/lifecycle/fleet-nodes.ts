import type { Context } from '../context.ts'
import type { Fleet } from '../model/fleet.ts'
import type { Nodes } from './fleet-standing.ts'

/** The instances of a fleet's nodes, as they are now. */
export const nodesOf = async (ctx: Pick<Context, 'store'>, fleet: Fleet): Promise<Nodes> => {
  const found = await Promise.all(fleet.nodes.map(({ instanceId }) => ctx.store.get(instanceId)))
  return new Map(found.flatMap((instance) => (instance ? [[instance.id, instance] as const] : [])))
}
