import type { Context } from '../context.ts'
import { BerthError } from '../model/errors.ts'
import { foundFleet, type KnownFleet } from './apply-fleet.ts'
import { nodesOf } from './fleet-nodes.ts'
import { keepFleet } from './keep-fleets.ts'

/** While an apply asks for its nodes, one write follows the other. */
const mostTries = 60

/**
 * `DELETE /fleets/{name}`: its nodes are given back, what is prepaid when that time ends and what is claimed when the
 * claim ends. It stays listed until the last one is gone. Returns it as it is then, with what stays.
 */
export const deleteFleet = async (ctx: Context, name: string, caller: string): Promise<KnownFleet> => {
  for (let tries = 0; tries < mostTries; tries++) {
    // Its nodes are not read before it is written: another write would come first, each time.
    const fleet = await foundFleet(ctx, name)
    const written =
      fleet.status === 'deleting'
        ? fleet
        : await ctx.store.fleets.put(fleet, { ...fleet, status: 'deleting', deletedAt: ctx.clock.now() })
    if (!written) continue
    if (written !== fleet) ctx.log.info(`fleet ${name} is deleted by ${caller}`, { fleet: name })
    await keepFleet(ctx, written)
    const left = (await ctx.store.fleets.get(name)) ?? { ...written, nodes: [] }
    return { fleet: left, nodes: await nodesOf(ctx, left) }
  }
  throw new BerthError(
    'internal',
    `Nothing was done: fleet ${name} was changed by others ${mostTries} times meanwhile. Send it again.`,
  )
}
