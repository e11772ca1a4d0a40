import type { Context } from '../context.ts'
import { BerthError } from '../model/errors.ts'
import { type Fleet, type FleetSpec, isSameSpec } from '../model/fleet.ts'
import { nodesOf } from './fleet-nodes.ts'
import { type FleetPlan, planFleet } from './fleet-plan.ts'
import { mayRent, settle } from './fleet-settle.ts'
import { type Nodes, standingOf } from './fleet-standing.ts'
import { keepFleet } from './keep-fleets.ts'
import { gatherOffers } from './offers.ts'

const mostTries = 5

/** A fleet with the instances of its nodes. */
export type KnownFleet = { fleet: Fleet; nodes: Nodes }

export type AppliedFleet = { plan: FleetPlan; known: KnownFleet | undefined }

/** `PUT /fleets/{name}?plan=true`: what an apply would do; nothing is written. */
export const planApply = async (
  ctx: Context,
  name: string,
  spec: FleetSpec,
  caller: string,
): Promise<AppliedFleet> => {
  const found = await ctx.store.fleets.get(name)
  const nodes: Nodes = found ? await nodesOf(ctx, found) : new Map()
  const { action, next } = asApplied(found, { name, spec, caller, now: ctx.clock.now() })
  return { plan: await planOf(ctx, action, next, nodes, found), known: found && { fleet: found, nodes } }
}

/**
 * `PUT /fleets/{name}`: the fleet is as the file says from now on, and what is missing is asked for. The same file again
 * changes nothing. Throws BerthError fleet_deleted when somebody deletes the fleet at the same moment.
 */
export const applyFleet = async (
  ctx: Context,
  name: string,
  spec: FleetSpec,
  caller: string,
): Promise<AppliedFleet & { known: KnownFleet }> => {
  let wasActive = false
  for (let tries = 0; tries < mostTries; tries++) {
    const found = await ctx.store.fleets.get(name)
    // Who deletes it does so knowing what there is; nobody would look again for a fleet that came back unasked.
    if (wasActive && found?.status !== 'active') throw deletedMeanwhile(name)
    wasActive = found?.status === 'active'
    const nodes: Nodes = found ? await nodesOf(ctx, found) : new Map()
    const { action, next } = asApplied(found, { name, spec, caller, now: ctx.clock.now() })
    const plan = await planOf(ctx, action, next, nodes, found)
    const written = action === 'none' ? next : await ctx.store.fleets.put(found, next)
    if (!written) continue
    if (action !== 'none') ctx.log.info(`fleet ${name} is applied by ${caller}`, { fleet: name, action })
    await keepFleet(ctx, written)
    return { plan, known: await knownFleet(ctx, name) }
  }
  throw new BerthError(
    'internal',
    `Nothing was done: fleet ${name} was changed by others ${mostTries} times meanwhile. Send the same file again.`,
  )
}

const deletedMeanwhile = (name: string): BerthError =>
  new BerthError(
    'fleet_deleted',
    `Nothing was done: fleet ${name} was deleted by somebody at the same moment. Send the file again if it is to be there all the same.`,
  )

/** Throws BerthError not_found where there is no such fleet. */
export const knownFleet = async (ctx: Pick<Context, 'store'>, name: string): Promise<KnownFleet> => {
  const fleet = await foundFleet(ctx, name)
  return { fleet, nodes: await nodesOf(ctx, fleet) }
}

/** Its record alone. Throws BerthError not_found where there is no such fleet. */
export const foundFleet = async ({ store }: Pick<Context, 'store'>, name: string): Promise<Fleet> => {
  const fleet = await store.fleets.get(name)
  if (!fleet) throw new BerthError('not_found', `There is no fleet ${name.slice(0, 64)}.`)
  return fleet
}

/** The record as it is to be. A fleet that is being given back is a fleet again, with what it still has. */
const asApplied = (
  found: Fleet | undefined,
  by: { name: string; spec: FleetSpec; caller: string; now: number },
): { action: FleetPlan['action']; next: Fleet } => {
  const { name, spec, caller, now } = by
  const fresh: Fleet = {
    name,
    version: 0,
    status: 'active',
    spec,
    desired: spec.nodes.target,
    nodes: [],
    createdBy: caller,
    createdAt: now,
  }
  if (!found) return { action: 'create', next: fresh }
  const { version, nodes, createdAt } = found
  if (found.status === 'deleting') return { action: 'create', next: { ...fresh, version, nodes, createdAt } }
  if (isSameSpec(found.spec, spec)) return { action: 'none', next: found }
  // Who says what it is to be rents what that takes: else a key's limits would end at another's fleet.
  return { action: 'update', next: { ...fresh, version, nodes, createdAt } }
}

const planOf = async (
  ctx: Context,
  action: FleetPlan['action'],
  next: Fleet,
  nodes: Nodes,
  found: Fleet | undefined,
): Promise<FleetPlan> => {
  const now = ctx.clock.now()
  const fleet = settle(next, nodes, now)
  const standing = standingOf(fleet, nodes)
  // Of a fleet that stays as it is, what can't be had yet is not for the plan: the fleet says why.
  const missing = action === 'none' ? mayRent(fleet, standing.kept, standing.missing, now) : standing.missing
  const offers = missing > 0 ? await gatherOffers(ctx, fleet.spec.wanted) : { offers: [], errors: [] }
  const plan = planFleet(action, fleet, { ...standing, missing }, offers, now)
  return { ...plan, messages: [...ownerLine(next, found), ...plan.messages] }
}

/** Whose money it is from now on. */
const ownerLine = (next: Fleet, found: Fleet | undefined): string[] =>
  found && found.createdBy !== next.createdBy
    ? [
        `what is rented for it from now on counts to ${next.createdBy}, and no longer to ${found.createdBy}; what it has already stays ${found.createdBy}'s`,
      ]
    : []
