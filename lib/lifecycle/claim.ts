import type { Context } from '../context.ts'
import { dueAt } from '../model/due.ts'
import { BerthError } from '../model/errors.ts'
import type { Instance } from '../model/instance.ts'
import type { CreateRequest } from '../model/request.ts'
import { change, hintNext, withEvent } from './change.ts'
import { longestOf } from './longest.ts'
import { refusing } from './refusing.ts'
import { alsoClaim, alsoRelease } from './spending.ts'

/**
 * `POST /instances/{id}/claim`: an idle machine gets its holder; the holder itself may come again to prolong its hold.
 * Throws BerthError not_claimable when it is another's, or not ready, or on its way out; and limit_exceeded when the
 * holder's limits have no room for it.
 */
export const claimInstance = async (
  ctx: Context,
  known: Instance,
  by: { holder: string; hold?: number | undefined },
): Promise<Instance> => {
  const { instance, changed } = await refusing(() =>
    change(
      ctx,
      known,
      (current) => {
        if (current.claim?.holder === by.holder && current.status === 'busy')
          return prolonged(ctx, current, by.hold)
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
  by: { holder: string; hold?: number | undefined; request?: CreateRequest },
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
    // What its fleet makes of it meanwhile holds when the claim has ended, and does not shorten it.
    ...(idle.fleet !== undefined && { ownTerms: termsOf(idle) }),
    ...(by.request && {
      idleDuration: by.request.idleDuration,
      maxDuration: longestOf(ctx, by.request),
      maxDurationSince: now,
      sshKeys: by.request.sshKeys,
      sshKeysChanged: true,
    }),
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

const withoutKeys = ({ sshKeys }: Instance) =>
  sshKeys.length > 0 ? { sshKeys: [], sshKeysChanged: true } : {}

const prolonged = (
  ctx: Pick<Context, 'clock'>,
  busy: Instance,
  hold: number | undefined,
): Instance | undefined => {
  if (hold === undefined || busy.claim === undefined) return undefined
  const holdUntil = ctx.clock.now() + hold
  if (holdUntil <= (busy.claim.holdUntil ?? 0)) return undefined
  return { ...busy, claim: { ...busy.claim, holdUntil } }
}

const whyNot = (instance: Instance): string => {
  if (instance.status === 'busy')
    return `${instance.id} is held by ${instance.claim?.holder ?? 'somebody else'}.`
  if (instance.status === 'pending' || instance.status === 'provisioning') {
    return `${instance.id} is not ready yet; it is ${instance.status}.`
  }
  return `${instance.id} is ${instance.status} and cannot be claimed any more.`
}
