import type { Clock } from '../../model/clock.ts'
import type { MachineRef, ReleaseOutcome } from '../backend.ts'
import type { Failure } from './answer.ts'
import type { Api } from './api.ts'
import { releasedTag, type SeenInstance } from './instances.ts'
import { findInstance } from './machines.ts'
import type { Places } from './places.ts'

/** Gives a machine back, with everything that was made with it. */
export const releaseMachine = async (
  parts: { api: Api; places: Places; clock: Clock },
  ref: MachineRef,
): Promise<ReleaseOutcome> => {
  const found = await findInstance(parts, ref)
  if (found.kind === 'failed') return retry(found)
  const seen = found.value
  if (seen === undefined || seen.state === 'TERMINATED') return { outcome: 'gone' }
  if (seen.state === 'TERMINATING') return { outcome: 'accepted' }
  if (seen.preemptible) await tagAsReleased(parts, ref, seen)
  const answer = await parts.api.ask('termination', ref.region, async ({ compute }) => {
    await compute.terminateInstance({
      instanceId: ref.cloudId,
      preserveBootVolume: false,
      preserveDataVolumesCreatedAtLaunch: false,
    })
  })
  if (answer.kind === 'ok') return { outcome: 'accepted' }
  if (answer.status !== 404) return retry(answer)
  const again = await findInstance(parts, ref)
  const isGone = again.kind === 'ok' && (again.value === undefined || again.value.state === 'TERMINATED')
  return isGone ? { outcome: 'gone' } : retry(answer)
}

/** Tells a machine that was given back from one that OCI took. Should it fail, only that difference is lost. */
const tagAsReleased = ({ api, clock }: { api: Api; clock: Clock }, ref: MachineRef, seen: SeenInstance) =>
  api.ask('tagging', ref.region, async ({ compute }) => {
    const freeformTags = { ...seen.tags, [releasedTag]: new Date(clock.now()).toISOString() }
    await compute.updateInstance({ instanceId: ref.cloudId, updateInstanceDetails: { freeformTags } })
  })

const retry = ({ message, retryAfterMs }: Failure): ReleaseOutcome => ({
  outcome: 'retry',
  message,
  retryAfterMs,
})
