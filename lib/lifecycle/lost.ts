import type { Backend, OwnedMachine } from '../backends/backend.ts'
import type { Context } from '../context.ts'
import type { Instance } from '../model/instance.ts'
import { stepOf } from '../model/step.ts'
import { refOf } from './backend-of.ts'
import { goneBecause } from './bootstrap.ts'
import { end } from './end.ts'
import { isSameMachine } from './same-machine.ts'

/**
 * How many of a cloud's records are in service, and those of them whose machine was rented by `rentedBefore` and is not
 * in a complete list. What comes up or is given back asks its cloud at each visit, and is left to those.
 */
export const inServiceAndMissing = (
  records: Instance[],
  machines: OwnedMachine[],
  rentedBefore: number,
): { inService: number; missing: Instance[] } => {
  const inService = records.filter((record) => stepOf(record) === 'check')
  const missing = inService.filter(
    ({ machine, startedAt }) =>
      machine !== undefined &&
      startedAt !== undefined &&
      startedAt <= rentedBefore &&
      !machines.some((listed) => isSameMachine(machine, listed)),
  )
  return { inService: inService.length, missing }
}

/** Ends an instance whose machine its cloud shows to be gone; a list without it is only the reason to ask. */
export const endIfGone = async (ctx: Context, backend: Backend, record: Instance): Promise<boolean> => {
  const ref = refOf(record)
  const seen = ref && (await backend.state(ref))
  if (seen?.state !== 'gone') return false
  await end(ctx, record, goneBecause(seen))
  return true
}
