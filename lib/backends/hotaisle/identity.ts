import type { MachineRef } from '../backend.ts'
import type { SeenMachine } from './answers.ts'
import type { Api } from './api.ts'
import { wordsOfAnswer } from './client.ts'
import type { Credentials } from './credentials.ts'
import { type Kind, kindOf } from './kinds.ts'

/** Whether the machine of that name is still the one that was rented. */
type Identity =
  | { is: 'ours'; machine: SeenMachine }
  /** Proved: the name is free, or belongs to another rental. */
  | { is: 'gone' }
  | { is: 'unknown'; message: string; retryAfterMs?: number | undefined }

/** Names come back for later rentals, so nothing may be believed of, or done to, a machine by its name alone. */
export const identify = async (api: Api, credentials: Credentials, ref: MachineRef): Promise<Identity> => {
  const kind = kindOf(ref.instanceType)
  const answer = await api.get(kind, ref.cloudId)
  if (answer.kind === 'ok') return compare(kind, answer.body, ref)
  if (answer.kind === 'refused' && answer.status === 404) {
    if (await credentials.canSeeTeam()) return { is: 'gone' }
    const message = `${ref.cloudId} is not shown, and the API key is not known to work: that proves nothing`
    return { is: 'unknown', message }
  }
  return { is: 'unknown', message: wordsOfAnswer(answer), retryAfterMs: answer.retryAfterMs }
}

const compare = (kind: Kind, machine: SeenMachine, ref: MachineRef): Identity => {
  if (machine.deploymentId !== undefined && ref.rentalId !== undefined) {
    return machine.deploymentId === ref.rentalId ? { is: 'ours', machine } : { is: 'gone' }
  }
  if (ref.mark === undefined || machine.description === ref.mark) return { is: 'ours', machine }
  if (machine.description !== '') return { is: 'gone' }
  // A VM gets its description after the launch, so it may lack it. Bare metal has it from the start.
  if (kind === 'vm') return { is: 'ours', machine }
  const message =
    `${machine.name} lost the description by which Berth knows it. If it is still Berth's, set its description ` +
    `to "${ref.mark}" in the Hot Aisle console; until then it costs money and is not given back.`
  return { is: 'unknown', message }
}
