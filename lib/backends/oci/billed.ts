import * as z from 'zod'
import type { Billed, MachineRef } from '../backend.ts'
import { after, ok } from './answer.ts'
import type { Api } from './api.ts'
import { compartmentOf } from './machines.ts'
import type { Places } from './places.ts'

const finished = z.coerce
  .date()
  .transform((date) => date.getTime())
  .optional()
  .catch(undefined)
const workRequests = z.array(
  z.object({ operationType: z.string(), status: z.string(), timeFinished: z.unknown().pipe(finished) }),
)

/**
 * OCI charges from RUNNING to TERMINATED, and shows neither time on the instance: they are the ends of its launch and
 * of its termination. Work requests are shown for some time only, so the beginning must be asked for while it is new;
 * a preemptible machine that OCI takes back may have none for its end. Source: OCI's Work Requests API.
 */
export const billedOf = async (
  { api, places }: { api: Api; places: Places },
  { region, cloudId, rentalId }: MachineRef,
): Promise<Billed> => {
  const compartment = rentalId === undefined ? await compartmentOf(places) : ok(rentalId)
  const listed = await after(compartment, (compartmentId) =>
    api.ask('work requests', region, async ({ get }) =>
      workRequests.parse(await get('/workRequests', { compartmentId, resourceId: cloudId })),
    ),
  )
  if (listed.kind === 'failed') return {}
  const launch = listed.value.find(({ operationType }) => /launch/i.test(operationType))
  const end = listed.value.findLast(
    ({ operationType, status }) => /terminate/i.test(operationType) && status === 'SUCCEEDED',
  )
  const neverRan = launch?.status === 'FAILED' || launch?.status === 'CANCELED'
  return {
    ...(neverRan && { from: null }),
    ...(launch?.status === 'SUCCEEDED' && launch.timeFinished !== undefined && { from: launch.timeFinished }),
    ...(end?.timeFinished !== undefined && { until: end.timeFinished }),
  }
}
