import type { MachineRef, ReleaseOutcome } from '../backend.ts'
import type { Api } from './api.ts'
import { wordsOfAnswer } from './client.ts'
import type { Credentials } from './credentials.ts'
import { identify } from './identity.ts'
import { kindOf } from './kinds.ts'

/** Gives a machine back, once it is sure that its name still stands for this rental. */
export const releaseMachine = async (
  api: Api,
  credentials: Credentials,
  ref: MachineRef,
  { force }: { force: boolean },
): Promise<ReleaseOutcome> => {
  const identity = await identify(api, credentials, ref)
  if (identity.is === 'gone') return { outcome: 'gone' }
  if (identity.is === 'unknown') return retry(identity.message, identity.retryAfterMs)
  const answer = await api.remove(kindOf(ref.instanceType), ref.cloudId, { force })
  if (answer.kind === 'ok') return { outcome: 'accepted' }
  const words = wordsOfAnswer(answer)
  if (answer.kind === 'unknown') {
    // It answers only when the machine is wiped, and goes on when cut off.
    return answer.why === 'time_out' ? { outcome: 'accepted' } : retry(words, answer.retryAfterMs)
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

const retry = (message: string, retryAfterMs: number | undefined): ReleaseOutcome => ({
  outcome: 'retry',
  message,
  retryAfterMs,
})
