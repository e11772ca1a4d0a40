import { isDeepStrictEqual } from 'node:util'
import type { Context } from '../context.ts'
import { dueAt } from '../model/due.ts'
import { BerthError } from '../model/errors.ts'
import type { Instance } from '../model/instance.ts'
import { type ClaimRequest, type CreateRequest, mostSshKeys } from '../model/request.ts'
import { change, hintNext, withEvent } from './change.ts'
import { longestOf } from './longest.ts'
import { refusing } from './refusing.ts'
import { alsoClaim, alsoRelease } from './spending.ts'

/** Who takes a machine, and on what terms. */
type Taker = ClaimRequest & { holder: string }

/**
 * `POST /instances/{id}/claim`: an idle machine gets its holder; the holder itself may come again to prolong its hold,
 * and to add SSH keys. Throws BerthError not_claimable when it is another's, or not ready, or on its way out;
 * limit_exceeded when the holder's limits have no room for it; and invalid_request when the keys become too many.
 */
export const claimInstance = async (ctx: Context, known: Instance, by: Taker): Promise<Instance> => {
  const { instance, changed } = await refusing(() =>
    change(
      ctx,
      known,
      (current) => {
        if (current.claim?.holder === by.holder && current.status === 'busy')
          return prolonged(ctx, current, by)
        if (current.status === 'idle') return claimed(ctx, current, by)
        throw new BerthError('not_claimable', whyNot(current))
      },
      async (current, next) => (current.claim ? {} : alsoClaim(ctx)(current, next)),
    ),
  )
  if (changed) await hintNext(ctx, instance)
  return instance
}

/** `POST /instances/{id}/release`: the holder gives its claim back; the machine stays, idle, by the idle rules. */
export const releaseInstance = async (ctx: Context, known: Instance, holder: string): Promise<Instance> => {
  const decide = (current: Instance): Instance | undefined => {
    if (current.status === 'terminating' || current.status === 'terminated') return undefined
    if (current.claim === undefined) {
      throw new BerthError('not_claimed', `${current.id} has no holder; there is nothing to release.`)
    }
    if (current.claim.holder !== holder) {
      throw new BerthError(
        'not_claimed',
        `${current.id} is held by ${current.claim.holder}, not by ${holder}.`,
      )
    }
    const now = ctx.clock.now()
    // Before it is ready there is no claim to end but the one to come: it will be idle then.
    if (current.status !== 'busy')
      return {
        ...withEvent(current, now, `released by ${holder}`),
        claim: undefined,
        ...withoutKeys(current),
      }
    return released(current, now, `released by ${holder}`, now)
  }
  const { instance, changed } = await change(ctx, known, decide, alsoRelease(ctx))
  if (changed) await hintNext(ctx, instance)
  return instance
}

/** An idle machine in the hands of `holder`; with a request, under that request's terms from now on. */
export const claimed = (
  ctx: Pick<Context, 'clock' | 'settings'>,
  idle: Instance,
  by: Taker & { request?: CreateRequest },
): Instance => {
  const now = ctx.clock.now()
  const busy = withEvent(idle, now, `claimed by ${by.holder}`, { status: 'busy' })
  return {
    ...busy,
    claim: {
      holder: by.holder,
      since: now,
      active: false,
      ...(by.hold !== undefined && { holdUntil: now + by.hold }),
    },
    idleSince: undefined,
    maxDurationSince: now,
    // What its fleet makes of it meanwhile holds when the claim has ended, and does not shorten it.
    ...(idle.fleet !== undefined && { ownTerms: termsOf(idle) }),
    ...(by.request && {
      idleDuration: by.request.idleDuration,
      maxDuration: longestOf(ctx, by.request),
    }),
    ...letting(idle, keysOf(idle, by)),
    ...dueAt(idle, now),
  }
}

/**
 * The claim has ended; nobody's keys stay on the machine, and the idle time counts from `idleSince`. A fleet's node is
 * its fleet's again, by the fleet's terms.
 */
export const released = (busy: Instance, now: number, message: string, idleSince: number): Instance => ({
  ...withEvent(busy, now, message, { status: 'idle' }),
  claim: undefined,
  idleSince,
  ...withoutKeys(busy),
  ...(busy.ownTerms && { ...busy.ownTerms, ownTerms: undefined, maxDurationSince: undefined }),
  ...dueAt(busy, now),
})

const termsOf = ({ idleDuration, maxDuration }: Instance) => ({ idleDuration, maxDuration })

/** Keys that are on an idle machine are those of who asked for it, and stay for nobody else. */
const keysOf = (idle: Instance, by: Taker): string[] =>
  by.sshKeys ?? (by.holder === idle.createdBy ? idle.sshKeys : [])

const letting = (instance: Instance, sshKeys: string[]) =>
  isDeepStrictEqual(sshKeys, instance.sshKeys) ? {} : { sshKeys, sshKeysChanged: true }

const withoutKeys = (instance: Instance) => letting(instance, [])

/** Undefined where there is nothing to write. */
const prolonged = (ctx: Pick<Context, 'clock'>, busy: Instance, by: ClaimRequest): Instance | undefined => {
  const { claim } = busy
  if (claim === undefined) return undefined
  const sshKeys = [...new Set([...busy.sshKeys, ...(by.sshKeys ?? [])])]
  if (sshKeys.length > mostSshKeys) throw tooManyKeys(busy, sshKeys.length)
  const now = ctx.clock.now()
  const until = by.hold === undefined ? 0 : now + by.hold
  const isLonger = until > (claim.holdUntil ?? 0)
  const isMore = sshKeys.length > busy.sshKeys.length
  if (!isLonger && !isMore) return undefined
  return {
    ...busy,
    ...(isLonger && { claim: { ...claim, holdUntil: until } }),
    ...(isMore && { sshKeys, sshKeysChanged: true, ...dueAt(busy, now) }),
  }
}

const tooManyKeys = ({ id, sshKeys }: Instance, count: number): BerthError => {
  const message = `${id} lets in ${sshKeys.length} keys already, and with these it would be ${count}; at most ${mostSshKeys} are allowed`
  return new BerthError('invalid_request', `Nothing was done. sshKeys: ${message}`, [
    { path: 'sshKeys', message },
  ])
}

const whyNot = (instance: Instance): string => {
  if (instance.status === 'busy')
    return `${instance.id} is held by ${instance.claim?.holder ?? 'somebody else'}.`
  if (instance.status === 'pending' || instance.status === 'provisioning') {
    return `${instance.id} is not ready yet; it is ${instance.status}.`
  }
  return `${instance.id} is ${instance.status} and cannot be claimed any more.`
}
