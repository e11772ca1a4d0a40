import { createHash } from 'node:crypto'
import type { Context } from '../context.ts'
import type { Instance, Machine } from '../model/instance.ts'
import { formatDollars } from '../model/money.ts'
import { InstanceExists } from '../store/store.ts'
import { hintNext } from './change.ts'
import { ending } from './end.ts'
import { createCommitted, unlimited } from './spending.ts'

/**
 * The id of the record by which a machine is given back that no other record leads to its end: always the same for one
 * rental, so that however often it is found, and by whomever, there is one record. `turn` counts the records of it
 * that said `terminated` while the machine went on.
 */
export const strayId = (
  backend: Instance['backend'],
  { cloudId, rentalId, mark }: Pick<Machine, 'cloudId' | 'rentalId' | 'mark'>,
  turn = 0,
): string => {
  // Where nothing names the rental, the name of its slot comes back, and the mark does not.
  const rental = JSON.stringify([backend, cloudId, rentalId ?? mark, turn])
  return `i-${createHash('sha256').update(rental).digest('hex').slice(0, 12)}`
}

/**
 * Writes the record of a stray machine, whose only way is to its end, by the rules of its prepaid time and never by
 * force. False when somebody else has written it.
 */
export const giveBackStray = async (ctx: Context, stray: Instance, message: string): Promise<boolean> => {
  const closing = ending(stray, ctx.clock.now(), { reason: 'error', message })
  try {
    await createCommitted(ctx, closing, () => unlimited(ctx), {})
  } catch (error) {
    if (error instanceof InstanceExists) return false
    throw error
  }
  ctx.log.alarm('OrphanFound', `${message}; ${cost(closing)}`, {
    instanceId: closing.id,
    backend: closing.backend,
    cloudId: closing.machine?.cloudId,
    mark: closing.machine?.mark,
  })
  await hintNext(ctx, closing)
  return true
}

const cost = ({ pricePerHourCents, reservation, releaseAt }: Instance): string => {
  const price = pricePerHourCents === undefined ? 'money' : `${formatDollars(pricePerHourCents)} an hour`
  const isPrepaid = reservation !== undefined && reservation.until === releaseAt
  return isPrepaid
    ? `it is prepaid until ${new Date(reservation.until).toISOString()}, and given back then`
    : `it costs ${price} and is given back now`
}
