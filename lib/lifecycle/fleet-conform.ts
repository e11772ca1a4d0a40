import type { Context } from '../context.ts'
import { dueAt } from '../model/due.ts'
import type { Fleet } from '../model/fleet.ts'
import type { Instance } from '../model/instance.ts'
import { change, hintNext, withNews } from './change.ts'
import { ending } from './end.ts'
import { isLive, type Standing } from './fleet-standing.ts'

type ConformContext = Pick<Context, 'store' | 'queues' | 'clock' | 'log'>

/**
 * Tells each live node what holds for it now. One that its fleet has no more use for gets an idle duration of nothing: by
 * the rules for idleness it goes as soon as nobody has it and nothing of it is prepaid. Of a fleet that was deleted, what
 * nobody holds ends now, as by `DELETE /instances/{id}`, and what somebody holds when the claim ends.
 */
export const conformNodes = async (
  ctx: ConformContext,
  fleet: Fleet,
  { kept, surplus }: Pick<Standing, 'kept' | 'surplus'>,
): Promise<void> => {
  const isDeleted = fleet.status === 'deleting'
  for (const node of [...kept, ...surplus]) {
    const isSurplus = isDeleted || surplus.includes(node)
    const { instance, changed } = await change(ctx, node, (current) => {
      if (!isLive(current)) return undefined
      const now = ctx.clock.now()
      if (isDeleted && current.status !== 'busy')
        return given(current, now, `fleet ${fleet.name} was deleted`)
      // Of what is not yet rented nothing has to be waited for.
      if (isSurplus && !current.machine && !current.intent)
        return given(current, now, `fleet ${fleet.name} has no more use for it`)
      return withOwnIdle(current, isSurplus ? 0 : fleet.spec.idleDuration, now, fleet.name)
    })
    if (changed) await hintNext(ctx, instance)
  }
}

const given = (current: Instance, now: number, message: string): Instance =>
  ending(current, now, { reason: 'terminated_by_user', message })

/** With an idle duration of its own; that of a claim holds until the claim has ended. */
const withOwnIdle = (
  current: Instance,
  idleDuration: Instance['idleDuration'],
  now: number,
  fleet: string,
): Instance | undefined => {
  const own = current.ownTerms?.idleDuration ?? current.idleDuration
  if (own === idleDuration) return undefined
  const told =
    idleDuration === 0
      ? withNews(current, now, `fleet ${fleet} has no more use for it; it goes when it is free`)
      : current
  if (told.ownTerms) return { ...told, ownTerms: { ...told.ownTerms, idleDuration } }
  return { ...told, idleDuration, ...(told.status === 'idle' && dueAt(told, now)) }
}
