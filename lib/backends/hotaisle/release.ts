import type { Clock } from '../../model/clock.ts'
import type { MachineRef, ReleaseOutcome } from '../backend.ts'
import type { Api } from './api.ts'
import { wordsOfAnswer } from './client.ts'
import type { Credentials } from './credentials.ts'
import { identify } from './identity.ts'
import { kindOf } from './kinds.ts'

/** Gives a machine back, once it is sure that its name still stands for this rental. */
export const releaseMachine = async (
  { api, credentials, clock }: { api: Api; credentials: Credentials; clock: Clock },
  ref: MachineRef,
  { force }: { force: boolean },
): Promise<ReleaseOutcome> => {
  const identity = await identify(api, credentials, ref)
  if (identity.is === 'gone') return { outcome: 'gone' }
  if (identity.is === 'unknown') return retry(identity.message, identity.retryAfterMs)
  const at = clock.now()
  const answer = await api.remove(kindOf(ref.instanceType), ref.cloudId, { force })
  if (answer.kind === 'ok') return { outcome: 'accepted', at }
  const words = wordsOfAnswer(answer)
  if (answer.kind === 'unknown') {
    // It answers only when the machine is wiped, and goes on when cut off.
    if (answer.why === 'time_out') return { outcome: 'accepted', at }
    return { ...retry(words, answer.retryAfterMs), ...(answer.why !== 'not_sent' && { at }) }
  }
  if (answer.status === 404 && (await credentials.canSeeTeam())) return { outcome: 'gone' }
  if (answer.status === 400 && !force) {
    return {
      outcome: 'too_early',
      message: `${ref.cloudId} is still inside its minimum reservation (${words})`,
    }
  }
  return retry(words, answer.retryAfterMs)
}

const retry = (message: string, retryAfterMs: number | undefined) => ({
  outcome: 'retry' as const,
  message,
  retryAfterMs,
})
