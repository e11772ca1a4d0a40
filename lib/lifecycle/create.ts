import { createHash } from 'node:crypto'
import type { Context } from '../context.ts'
import { dueAt } from '../model/due.ts'
import { BerthError } from '../model/errors.ts'
import type { Instance } from '../model/instance.ts'
import { type CreateRequest, wantedBy } from '../model/request.ts'
import { formatRequirements } from '../model/requirements.ts'
import type { Once } from '../store/store.ts'
import { hintNext } from './change.ts'
import { claimed } from './claim.ts'
import { idleMachines, isFree } from './offers.ts'

const mostTries = 4

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

  const instance = newInstance(ctx, request, caller.name)
  const { used } = await ctx.store.create(instance, { once })
  if (used && once) return sameRequest(once, used)
  await hintNext(ctx, instance)
  return instance
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
    // A look at the machine may write in between; only a claim or its end make it another's.
    for (let tries = 0; idle && tries < mostTries; tries++) {
      const next = claimed(ctx, idle, { holder, hold: request.hold, request })
      const written = await ctx.store.update(idle, next, { once })
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

const newInstance = (ctx: Context, request: CreateRequest, createdBy: string): Instance => {
  const now = ctx.clock.now()
  const id = `i-${ctx.random.hex(12)}`
  const wanted = wantedBy(request)
  return {
    id,
    name: request.name ?? `berth-${id.slice(2, 8)}`,
    version: 0,
    status: 'pending',
    createdAt: now,
    createdBy,
    wanted,
    hardwareCheck: request.hardwareCheck,
    idleDuration: request.idleDuration,
    maxDuration: request.maxDuration,
    sshKeys: request.sshKeys,
    attempts: 0,
    ...(request.claim && {
      claim: {
        holder: createdBy,
        since: now,
        active: false,
        ...(request.hold !== undefined && { holdUntil: now + request.hold }),
      },
    }),
    visits: 0,
    ...dueAt({}, now),
    events: [
      {
        at: now,
        status: 'pending',
        message: `asked for by ${createdBy}: ${formatRequirements(wanted.requirements)}`,
      },
    ],
  }
}

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
