import type { Context } from '../context.ts'
import type { Instance } from '../model/instance.ts'
import type { Also } from '../store/store.ts'
import { isInService, isWanted } from './fleet-standing.ts'

/**
 * What a fleet says when one of its nodes has been idle for long enough to go: that it keeps it, with the reason, or that
 * it may go, with what is to be written in the same transaction.
 */
export type Seat = { keeps: string } | { frees: Also }

/**
 * Whether an idle node of a fleet may go: what the fleet does not want may, and what it has above `min`. The write is on
 * the version of the fleet that was read, so that of two nodes of which one may go only one does.
 */
export const seatOf = async (ctx: Pick<Context, 'store'>, node: Instance): Promise<Seat> => {
  const fleet = node.fleet === undefined ? undefined : await ctx.store.fleets.get(node.fleet)
  if (fleet?.status !== 'active' || !fleet.nodes.some(({ instanceId }) => instanceId === node.id))
    return { frees: {} }
  const { spec } = fleet
  const nodes = fleet.nodes.map((each) => (each.instanceId === node.id ? { ...each, left: true } : each))
  if (!isWanted(spec, node)) return { frees: { fleet: { previous: fleet, next: { ...fleet, nodes } } } }
  const others = fleet.nodes.filter(({ instanceId, left }) => instanceId !== node.id && !left)
  const keeps = {
    keeps: `idle, and kept: fleet ${fleet.name} keeps ${spec.nodes.min} ${spec.nodes.min === 1 ? 'node' : 'nodes'} at least`,
  }
  if (others.length < spec.nodes.min) return keeps
  const found = await Promise.all(others.map(({ instanceId }) => ctx.store.get(instanceId)))
  const serving = found.filter((other) => other && isInService(other) && isWanted(spec, other)).length
  if (serving < spec.nodes.min) return keeps
  const desired = Math.max(spec.nodes.min, Math.min(fleet.desired, others.length))
  return { frees: { fleet: { previous: fleet, next: { ...fleet, nodes, desired } } } }
}
