import { isDeepStrictEqual } from 'node:util'
import type { Context } from '../context.ts'
import { dueAt, isDue } from '../model/due.ts'
import type { Instance } from '../model/instance.ts'
import { stepOf } from '../model/step.ts'
import { type ShimSession, ShimUnreachable } from '../shim/shim.ts'
import { backendOf, refOf } from './backend-of.ts'
import { goneBecause } from './bootstrap.ts'
import { change, hintNext } from './change.ts'
import { end } from './end.ts'
import { seatOf } from './fleet-seat.ts'
import { afterLook, isIdleOver, type Look, pastMaxDuration } from './idle-rule.ts'
import { alsoRelease } from './spending.ts'

/** Looks at one machine in service, and applies the rules for claims, idleness and deadlines to what it shows. */
export const check = async (ctx: Context, id: string): Promise<void> => {
  const instance = await ctx.store.get(id)
  if (!instance || stepOf(instance) !== 'check' || !isDue(instance, ctx.clock.now())) return
  const outlived = (current: Instance) =>
    stepOf(current) === 'check' ? pastMaxDuration(current, ctx.clock.now()) : undefined
  const over = await change(ctx, instance, outlived, alsoRelease(ctx))
  if (over.changed) return hintNext(ctx, over.instance)
  const look = await lookAt(ctx, instance)
  let retryAfterMs: number | undefined
  if ('unseen' in look) {
    // Only when the machine does not answer is its cloud asked, which costs time and may be throttled.
    const ref = refOf(instance)
    const state = ref && (await backendOf(ctx, instance).state(ref))
    if (state?.state === 'gone') return end(ctx, instance, goneBecause(state))
    if (state?.state === 'unknown') retryAfterMs = state.retryAfterMs
  }
  const isGoing = instance.fleet !== undefined && isIdleOver(instance, ctx.clock.now())
  const seat = isGoing ? await seatOf(ctx, instance) : undefined
  const decide = (current: Instance): Instance | undefined => {
    if (stepOf(current) !== 'check') return undefined
    // A claim or release since the look makes it old: the hint of that write brings the next one. Keys that this look
    // wrote may have undone those of the new holder, so they are written once more.
    if (current.claim?.since !== instance.claim?.since || current.status !== instance.status) {
      return 'keysSet' in look && look.keysSet
        ? { ...current, sshKeysChanged: true, ...dueAt(current, ctx.clock.now()) }
        : undefined
    }
    const next = afterLook(current, { ...look, retryAfterMs }, ctx.clock.now(), ctx.settings.idle, seat)
    return 'keysSet' in look && look.keysSet && isDeepStrictEqual(next.sshKeys, instance.sshKeys)
      ? { ...next, sshKeysChanged: undefined }
      : next
  }
  const { instance: after, changed } = await change(ctx, instance, decide, async (current, next) =>
    seat && 'frees' in seat && next.terminationReason === 'idle_timeout'
      ? seat.frees
      : alsoRelease(ctx)(current, next),
  )
  // Where its fleet was changed meanwhile, the node asks it again at once.
  if (changed || seat) await hintNext(ctx, after)
}

const lookAt = async (ctx: Context, instance: Instance): Promise<Look & { keysSet?: boolean }> => {
  const { machine } = instance
  if (!machine?.hostname || machine.sshPort === undefined || !machine.sshUsername)
    return { unseen: 'no address is known' }
  let session: ShimSession | undefined
  try {
    session = await ctx.shim.connect({
      hostname: machine.hostname,
      port: machine.sshPort,
      username: machine.sshUsername,
      hostKeyFingerprint: machine.hostKeyFingerprint,
    })
    const seen = await session.activity()
    return { seen, keysSet: instance.sshKeysChanged === true && (await setKeys(ctx, instance, session)) }
  } catch (error) {
    if (error instanceof ShimUnreachable) return { unseen: error.message }
    throw error
  } finally {
    session?.close()
  }
}

/** Keys that cannot be written (a full disk) do not make a machine unreachable that is seen at work. */
const setKeys = async (ctx: Context, instance: Instance, session: ShimSession): Promise<boolean> => {
  try {
    await session.authorizeKeys(instance.sshKeys)
    return true
  } catch (error) {
    if (!(error instanceof ShimUnreachable)) throw error
    ctx.log.warn('the SSH keys could not be written; tried again at the next look', {
      instanceId: instance.id,
      error: error.message,
    })
    return false
  }
}
