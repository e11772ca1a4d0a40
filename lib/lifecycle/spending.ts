import type { Context } from '../context.ts'
import type { Instance } from '../model/instance.ts'
import { isLimited, type Limits } from '../model/limits.ts'
import type { Offer } from '../model/offer.ts'
import {
  type Commitment,
  commitmentOf,
  type Excess,
  excessOf,
  type Spend,
  settledWith,
  usageOf,
  withCommitment,
} from '../model/spend.ts'
import type { Also, SpendChange } from '../store/store.ts'
import { costLinesOf } from './billed.ts'
import { newSpend, stillUncertain, withListed } from './spend-record.ts'

type SpendContext = Pick<Context, 'store' | 'clock' | 'settings'>

/** A limit does not allow what was to be committed. */
export class OverLimit extends Error {
  readonly excess: Excess
  constructor(excess: Excess) {
    super(excess.message)
    this.name = 'OverLimit'
    this.excess = excess
  }
}

/** What is committed, and what may be, for one API key. */
export type Allowance = { spend: Spend; limits: { whose: string; key: string | undefined; limits: Limits }[] }

/**
 * What a new instance of `key` is checked against. Where no limit was ever set there is no record, and undefined: that
 * costs one read. The first one that is limited makes it, of all that lives.
 */
export const allowanceForNew = async (ctx: SpendContext, key: string): Promise<Allowance | undefined> => {
  const [known, limits] = await Promise.all([ctx.store.spend(), limitsOf(ctx, key)])
  if (!known && !limits.some((each) => isLimited(each.limits))) return undefined
  const spend = known ?? (await newSpend(ctx))
  return { limits, spend: stillUncertain(spend, ctx.clock.now()) ? await withListed(ctx, spend) : spend }
}

/** The same for an instance that has its record already; nothing is made anew. */
export const allowanceOf = async (ctx: SpendContext, key: string): Promise<Allowance | undefined> => {
  const spend = await ctx.store.spend()
  return spend && { spend, limits: await limitsOf(ctx, key) }
}

/** What is to be written so that a commitment counts. Throws OverLimit where a limit does not allow it. */
const committing = (
  { spend, limits }: Allowance,
  next: Commitment,
  now: number,
  { unpriced = false } = {},
): SpendChange => {
  const after = withCommitment(spend, next)
  for (const { whose, key, limits: each } of limits) {
    const excess = excessOf(each, usageOf(spend, now, key), usageOf(after, now, key), { whose, unpriced })
    if (excess) throw new OverLimit(excess)
  }
  return changeOf(spend, after)
}

/** Which limit does not allow an offer for an instance, if any. */
export const excessFor = (
  allowance: Allowance,
  instance: Instance,
  { billing }: Offer,
  now: number,
): Excess | undefined => {
  try {
    const bill = { ...billing, from: now }
    committing(allowance, { ...commitmentOf(instance), bill }, now)
    return undefined
  } catch (error) {
    if (error instanceof OverLimit) return error.excess
    throw error
  }
}

/** Counts an instance as it is to be from now on: with a price from its intent on, in the hands of who claims it. */
const counting =
  (ctx: SpendContext, allowanceFor: (holder: string) => Promise<Allowance | undefined>) =>
  async (_: Instance, next: Instance): Promise<Also> => {
    const allowance = await allowanceFor(next.claim?.holder ?? next.createdBy)
    return allowance ? { spend: committing(allowance, commitmentOf(next), ctx.clock.now()) } : {}
  }

/** Before a paid call. Throws OverLimit. */
export const alsoCommit = (ctx: SpendContext) => counting(ctx, (holder) => allowanceOf(ctx, holder))

/** When a machine that lives gets a holder. Throws OverLimit. */
export const alsoClaim = (ctx: SpendContext) => counting(ctx, (holder) => allowanceForNew(ctx, holder))

/** When a call brought nothing: what counts less is never refused. */
export const alsoGiveUp = (ctx: SpendContext) => counting(ctx, () => unlimited(ctx))

/** When a claim ends: the machine counts to whose it is again while it lasts, whether or not that leaves room for it. */
export const alsoRelease =
  (ctx: SpendContext) =>
  async (held: Instance, next: Instance): Promise<Also> =>
    held.claim && held.claim.holder !== held.createdBy && !next.claim ? alsoGiveUp(ctx)(held, next) : {}

/** Counts one no longer that has ended, and keeps what it cost. */
export const alsoSettle =
  (ctx: SpendContext) =>
  async (_: Instance, next: Instance): Promise<Also> => {
    const now = ctx.clock.now()
    const costs = costLinesOf(next, now)
    const spend = await ctx.store.spend()
    return { costs, ...(spend && { spend: changeOf(spend, settledWith(spend, next.id, costs, now)) }) }
  }

/** Writes a new instance with its commitment, again when others write theirs at the same moment. */
export const createCommitted = async (
  ctx: SpendContext,
  instance: Instance,
  allowance: () => Promise<Allowance | undefined>,
  { unpriced = false, ...also }: Pick<Also, 'once' | 'fleet'> & { unpriced?: boolean },
): ReturnType<Context['store']['create']> => {
  for (let tries = 0; tries < mostTries; tries++) {
    const allowed = await allowance()
    const spend = allowed && committing(allowed, commitmentOf(instance), ctx.clock.now(), { unpriced })
    const created = await ctx.store.create(instance, { ...also, spend })
    if (!created.spendChanged) return created
  }
  throw new Error(`${mostTries} others committed something at the same moment; nothing was created`)
}

/** The record without anybody's limits: for what is to be counted whether or not it is allowed. */
export const unlimited = async (ctx: Pick<Context, 'store'>): Promise<Allowance | undefined> => {
  const spend = await ctx.store.spend()
  return spend && { spend, limits: [] }
}

/** Each round of a race has one winner, so that as many can race as this. */
export const mostTries = 60

const limitsOf = async (ctx: Pick<Context, 'store' | 'settings'>, key: string) => {
  const own = await ctx.store.keyLimits(key)
  return [
    { whose: 'this deployment', key: undefined, limits: ctx.settings.limits },
    ...(own ? [{ whose: `the API key ${key}`, key, limits: own }] : []),
  ]
}

/** A record that is not written yet has version 0. */
const changeOf = (before: Spend, { version: _, ...next }: Spend): SpendChange => ({
  before: before.version === 0 ? undefined : before,
  next,
})
