import type { Context } from '../context.ts'
import { dueAt } from '../model/due.ts'
import type { Instance } from '../model/instance.ts'
import { stepOf } from '../model/step.ts'
import { change, hintNext, withEvent } from './change.ts'
import { noPlace } from './resolve-intent.ts'
import { alsoGiveUp } from './spending.ts'

/**
 * Goes on looking for a machine after its cloud had accepted a launch that came to nothing: none ever ran, and nothing
 * is charged. The same offer is not tried again for this request.
 */
export const tryNextOffer = async (ctx: Context, known: Instance, why: string): Promise<void> => {
  const { instance, changed } = await change(
    ctx,
    known,
    (current) => {
      const { machine } = current
      if (stepOf(current) !== 'bootstrap' || machine?.cloudId !== known.machine?.cloudId) return undefined
      const now = ctx.clock.now()
      const line = `${current.instanceType} (${machine?.cloudId}) never ran, and nothing is charged for it: ${why}`
      return {
        ...withEvent(current, now, line, { phase: 'launching' }),
        ...noPlace,
        machine: undefined,
        startedAt: undefined,
        bootDeadline: undefined,
        reservation: undefined,
        tried: [...(current.tried ?? []), ...(machine?.offer === undefined ? [] : [machine.offer])],
        ...dueAt(current, now),
      }
    },
    alsoGiveUp(ctx),
  )
  if (changed) await hintNext(ctx, instance)
}
