import { BerthError, messageOf } from '../model/errors.ts'
import type { Fleet } from '../model/fleet.ts'
import { type CreateContext, newInstance, writeNew } from './create.ts'
import { conformNodes } from './fleet-conform.ts'
import { nodesOf } from './fleet-nodes.ts'
import { failedAgain, mayRent, settle } from './fleet-settle.ts'
import { freeNumbers, nodeName, standingOf } from './fleet-standing.ts'

/** Sees to every fleet, each minute: without fleets that is one query. What fails of one is the next minute's. */
export const keepFleets = async (ctx: CreateContext): Promise<{ fleets: number }> => {
  const fleets = await ctx.store.fleets.list()
  for (const fleet of fleets) {
    try {
      await keepFleet(ctx, fleet)
    } catch (error) {
      ctx.log.error('a fleet could not be seen to; the next minute makes it good', {
        fleet: fleet.name,
        error: messageOf(error),
      })
    }
  }
  return { fleets: fleets.length }
}

/**
 * Brings a fleet nearer to what it is to be: reckons with nodes that left, tells those that stay what holds for them, and
 * rents those that are missing. Each write is on the version of the fleet that it was decided on; when somebody else has
 * written, the rest is left to them, or to the next minute.
 */
export const keepFleet = async (ctx: CreateContext, known: Fleet): Promise<void> => {
  const now = ctx.clock.now()
  const nodes = await nodesOf(ctx, known)
  const settled = settle(known, nodes, now)
  if (settled.status === 'deleting' && settled.nodes.length === 0) {
    await ctx.store.fleets.remove(known)
    return
  }
  const fleet = settled === known ? known : await ctx.store.fleets.put(known, settled)
  if (!fleet) return
  const standing = standingOf(fleet, nodes)
  await conformNodes(ctx, fleet, standing)
  await rentMissing(ctx, fleet, mayRent(fleet, standing.kept, standing.missing, now))
}

const rentMissing = async (ctx: CreateContext, known: Fleet, count: number): Promise<void> => {
  let fleet = known
  for (const n of freeNumbers(known, count)) {
    const written = await rentNode(ctx, fleet, n)
    if (!written) return
    fleet = written
  }
}

/** The fleet with one node more, or undefined when it was changed by others, or the node may not be had. */
const rentNode = async (ctx: CreateContext, fleet: Fleet, n: number): Promise<Fleet | undefined> => {
  const instance = newInstance(
    ctx,
    {
      name: nodeName(fleet, n),
      createdBy: fleet.createdBy,
      fleet: fleet.name,
      wanted: fleet.spec.wanted,
      hardwareCheck: 'enforce',
      idleDuration: fleet.spec.idleDuration,
      maxDuration: 'off',
      sshKeys: [],
      claim: undefined,
    },
    `fleet ${fleet.name}`,
  )
  const next = { ...fleet, nodes: [...fleet.nodes, { n, instanceId: instance.id }] }
  try {
    const { isFleetStale } = await writeNew(ctx, instance, { fleet: { previous: fleet, next } })
    return isFleetStale ? undefined : { ...next, version: fleet.version + 1 }
  } catch (error) {
    // Refused by a rule, a limit on spending for one: it is asked for again later, and the fleet says why it is not there.
    if (!(error instanceof BerthError)) throw error
    const failure = failedAgain(
      fleet,
      `${instance.name} was not asked for: ${error.message}`,
      ctx.clock.now(),
    )
    await ctx.store.fleets.put(fleet, { ...fleet, failure })
    return undefined
  }
}
