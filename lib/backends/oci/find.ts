import type { Clock } from '../../model/clock.ts'
import type { FindOutcome, Rental } from '../backend.ts'
import { ok } from './answer.ts'
import type { Api } from './api.ts'
import { listInstances, machineOf, type SeenInstance } from './instances.ts'
import { launchFailureOf } from './launch-failure.ts'
import { payload } from './offers.ts'
import type { Places } from './places.ts'

/** How long a launch may go on after its answer was lost, before an empty listing means anything. */
const settledAfterMs = 120_000

type Parts = { api: Api; places: Places; clock: Clock }

/** Looks for what came of an intent, by the mark on the machine. A wrong `absent` would pay for a second machine. */
export const findMachine = async (parts: Parts, { intent, region }: Rental): Promise<FindOutcome> => {
  const { api, places, clock } = parts
  const offeredIn = payload.safeParse(intent.payload).data?.compartmentId ?? undefined
  const compartmentId = offeredIn === undefined ? await places.compartment() : ok(offeredIn)
  if (compartmentId.kind === 'failed') return unclear(compartmentId.message, compartmentId.retryAfterMs)
  const settled = clock.now() - intent.writtenAt >= settledAfterMs
  const nothing = (): FindOutcome =>
    settled ? { outcome: 'absent' } : unclear('no such machine is listed yet')
  // Without a compartment no launch was ever sent.
  if (compartmentId.value === undefined) return nothing()
  const listing = await listInstances(api, region, compartmentId.value)
  if (listing.kind === 'failed') return unclear(listing.message, listing.retryAfterMs)
  const own = listing.value.filter(({ mark }) => mark === intent.mark)
  const [first, second] = [...own.filter(isAlive), ...own.filter((seen) => !isAlive(seen))]
  if (!first) return nothing()
  if (second && isAlive(second)) {
    return unclear(
      `two machines carry the mark of this launch: ${own.map(({ id }) => id).join(', ')}. A person must terminate ` +
        'the one that is not wanted in the OCI console; both cost money.',
    )
  }
  return isAlive(first) ? found(first) : ended(api, region, first)
}

/** One that was accepted and came to nothing is as good as none; one that ran has cost money, and is accounted for. */
const ended = async (api: Api, region: string, seen: SeenInstance): Promise<FindOutcome> => {
  const failure = await launchFailureOf(api, region, seen)
  if (failure.kind === 'failed')
    return unclear(`${seen.id} has ended, and why is not known: ${failure.message}`, failure.retryAfterMs)
  if (failure.value === undefined) return found(seen)
  return { outcome: 'absent', message: `OCI had accepted the launch, and it failed: ${failure.value}` }
}

const isAlive = ({ state }: SeenInstance) => state !== 'TERMINATED' && state !== 'TERMINATING'

const found = (seen: SeenInstance): FindOutcome => ({ outcome: 'found', machine: machineOf(seen) })

const unclear = (message: string, retryAfterMs?: number): FindOutcome => ({
  outcome: 'unclear',
  message,
  retryAfterMs,
})
