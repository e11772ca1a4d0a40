import type { SimulatedInstance, SimulatedVnic } from './state.ts'

export type LifecycleState = 'PROVISIONING' | 'STARTING' | 'RUNNING' | 'TERMINATING' | 'TERMINATED'

/** Where an instance stands at a time; nothing of it is stored. */
export const lifecycleOf = (instance: SimulatedInstance, now: number): LifecycleState => {
  const goneAt = terminatedAtOf(instance)
  if (goneAt !== null && now >= goneAt) return 'TERMINATED'
  if (instance.endedAt !== null && now >= instance.endedAt) return 'TERMINATING'
  if (now < instance.provisionedAt) return 'PROVISIONING'
  return now < instance.runningAt ? 'STARTING' : 'RUNNING'
}

/** When it was or will be gone, by what is known of it now. */
export const terminatedAtOf = ({ failure, terminatedAt }: SimulatedInstance): number | null =>
  failure === null ? terminatedAt : Math.min(failure.at, terminatedAt ?? failure.at)

/** An instance that is gone stays listed for an hour. */
export const isShown = (instance: SimulatedInstance, now: number): boolean => {
  const goneAt = terminatedAtOf(instance)
  return goneAt === null || now < goneAt + 60 * 60_000
}

/** The attachments that there are by now. */
export const attachmentsOf = (instance: SimulatedInstance, now: number) =>
  instance.vnics
    .filter(({ attachingAt }) => now >= attachingAt)
    .map((vnic) => ({ vnic, state: attachmentStateOf(instance, vnic, now) }))

const attachmentStateOf = (instance: SimulatedInstance, vnic: SimulatedVnic, now: number) => {
  const state = lifecycleOf(instance, now)
  if (state === 'TERMINATED') return 'DETACHED'
  if (state === 'TERMINATING') return 'DETACHING'
  return now < vnic.attachedAt ? 'ATTACHING' : 'ATTACHED'
}
