import type { OwnedMachine } from '../backends/backend.ts'
import type { Machine } from '../model/instance.ts'
import { parseMark } from '../model/mark.ts'

/** The mark that a listed machine carries, whichever Berth's. Some clouds have room for it in the description alone. */
export const markOn = ({ mark, description }: OwnedMachine): string | undefined =>
  [mark, description].find((text) => parseMark(text) !== undefined)

/**
 * Whether a listed machine is the one on a record. Names of slots come back for other rentals, so the name alone is
 * believed only where nothing else is known of one of them.
 */
export const isSameMachine = (
  known: Pick<Machine, 'cloudId' | 'rentalId' | 'mark'>,
  listed: OwnedMachine,
): boolean => {
  if (known.cloudId !== listed.cloudId) return false
  const mark = markOn(listed)
  // An attempt's mark stands on one machine; on OCI that machine may have been moved to another compartment.
  if (mark === known.mark) return true
  if (known.rentalId !== undefined && listed.rentalId !== undefined) return known.rentalId === listed.rentalId
  return mark === undefined
}
