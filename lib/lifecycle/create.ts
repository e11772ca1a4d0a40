import { createHash } from 'node:crypto'
import type { Context } from '../context.ts'
import { dueAt } from '../model/due.ts'
import { BerthError } from '../model/errors.ts'
import type { Instance } from '../model/instance.ts'
import { type CreateRequest, wantedBy } from '../model/request.ts'
import { formatRequirements } from '../model/requirements.ts'
import type { Also, Once } from '../store/store.ts'
import { hintNext } from './change.ts'
import { claimed } from './claim.ts'
import { longestOf, shortened } from './longest.ts'
import { idleMachines, isFree } from './offers.ts'
import { refusing } from './refusing.ts'
import { allowanceForNew, alsoClaim, createCommitted, mostTries, OverLimit } from './spending.ts'

/**
 * Takes a fitting idle machine, or writes down the wish for a new one; nothing is paid here.
 * With an idempotency key, the same request again gives the same instance, also at the same moment.
 * Throws BerthError idempotency_conflict when the key was used for another request.
 */
export const createInstance = async (
  ctx: Context,
  request: CreateRequest,
  caller: { name: string; idempotencyKey?: string | undefined },
): Promise<Instance> => {
  const once = onceFor(request, caller)
  const earlier = once && (await ctx.store.used(once))
  if (once && earlier) return sameRequest(once, earlier)
  const reused = request.reuse && request.claim ? await takeIdle(ctx, request, caller.name, once) : undefined
  if (reused) return reused

  const instance = newInstance(ctx, termsOf(request, caller.name))
  const { used } = await writeNew(ctx, instance, { once })
  return used && once ? sameRequest(once, used) : instance
}

/** What a new instance is written and set going with. */
export type CreateContext = Pick<Context, 'store' | 'queues' | 'clock' | 'random' | 'log' | 'settings'>

/**
 * The one way by which an instance that will rent comes into the table: what limits spending stands here. Throws
 * BerthError limit_exceeded.
 */
export const writeNew = async (
  ctx: CreateContext,
  instance: Instance,
  also: Pick<Also, 'once' | 'fleet'>,
): ReturnType<Context['store']['create']> => {
  const written = await refusing(() =>
    createCommitted(ctx, instance, () => allowanceForNew(ctx, instance.createdBy), {
      ...also,
      unpriced: true,
    }),
  )
  if (written.used || written.isFleetStale) return written
  for (const { message } of instance.events) {
    ctx.log.info(message, { instanceId: instance.id, status: instance.status })
  }
  await hintNext(ctx, instance)
  return written
}

type Terms = Pick<
  Instance,
  'createdBy' | 'fleet' | 'wanted' | 'hardwareCheck' | 'idleDuration' | 'maxDuration' | 'sshKeys'
> & { name: string | undefined; claim: { holdMs: number | undefined } | undefined }

/** An instance that waits for a machine. */
export const newInstance = (
  ctx: CreateContext,
  { name, claim, ...terms }: Terms,
  who = terms.createdBy,
): Instance => {
  const now = ctx.clock.now()
  const id = `i-${ctx.random.hex(12)}`
  return {
    id,
    name: name ?? `berth-${id.slice(2, 8)}`,
    version: 0,
    status: 'pending',
    createdAt: now,
    ...terms,
    maxDuration: longestOf(ctx, terms),
    attempts: 0,
    ...(claim && {
      claim: {
        holder: terms.createdBy,
        since: now,
        active: false,
        ...(claim.holdMs !== undefined && { holdUntil: now + claim.holdMs }),
      },
    }),
    visits: 0,
    ...dueAt({}, now),
    events: [
      {
        at: now,
        status: 'pending',
        message: `asked for by ${who}: ${formatRequirements(terms.wanted.requirements)}`,
      },
      ...shortened(ctx, terms).map((message) => ({ at: now, status: 'pending' as const, message })),
    ],
  }
}

/** Of two requests for one machine, the write of one fails; it goes on to the next. */
const takeIdle = async (
  ctx: Context,
  request: CreateRequest,
  holder: string,
  once: Once | undefined,
): Promise<Instance | undefined> => {
  const wanted = wantedBy(request)
  for (const found of await idleMachines(ctx, wanted, request.hardwareCheck)) {
    let idle: Instance | undefined = found
    // A look at the machine may write in between, and others what they commit; only a claim or its end make it another's.
    for (let tries = 0; idle && tries < mostTries; tries++) {
      const next = claimed(ctx, idle, { holder, hold: request.hold, sshKeys: request.sshKeys, request })
      const also = await mayTake(ctx, idle, next)
      if (!also) break
      const written = await ctx.store.update(idle, next, { ...also, once })
      if (written) {
        ctx.log.info(`taken by ${holder}`, { instanceId: written.id, status: written.status })
        await hintNext(ctx, written)
        return written
      }
      const used = once && (await ctx.store.used(once))
      if (once && used) return sameRequest(once, used)
      const reread = await ctx.store.get(idle.id)
      idle = reread && isFree(reread, wanted, request.hardwareCheck) ? reread : undefined
    }
  }
  return undefined
}

/** A machine whose price does not fit into what its new holder may have is not taken. */
const mayTake = async (ctx: Context, idle: Instance, next: Instance): Promise<Also | undefined> => {
  try {
    return await alsoClaim(ctx)(idle, next)
  } catch (error) {
    if (error instanceof OverLimit) return undefined
    throw error
  }
}

const termsOf = (request: CreateRequest, createdBy: string): Terms => ({
  name: request.name,
  createdBy,
  wanted: wantedBy(request),
  hardwareCheck: request.hardwareCheck,
  idleDuration: request.idleDuration,
  maxDuration: request.maxDuration,
  sshKeys: request.sshKeys,
  claim: request.claim ? { holdMs: request.hold } : undefined,
})

const onceFor = (request: CreateRequest, caller: { name: string; idempotencyKey?: string | undefined }) =>
  caller.idempotencyKey === undefined
    ? undefined
    : {
        scope: caller.name,
        key: caller.idempotencyKey,
        fingerprint: createHash('sha256').update(JSON.stringify(request)).digest('base64url').slice(0, 22),
      }

const sameRequest = (once: Once, used: { instance: Instance; fingerprint: string }): Instance => {
  if (used.fingerprint === once.fingerprint) return used.instance
  throw new BerthError(
    'idempotency_conflict',
    `The Idempotency-Key was used before, for another request (instance ${used.instance.id}). Nothing was rented; send a new key for a new request.`,
    [{ path: 'Idempotency-Key', message: 'already used with another body' }],
  )
}
