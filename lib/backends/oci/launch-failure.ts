import * as z from 'zod'
import { type Answer, after, ok } from './answer.ts'
import type { Api } from './api.ts'
import type { SeenInstance } from './instances.ts'

const workRequests = z.array(z.object({ id: z.string(), operationType: z.string(), status: z.string() }))
const workRequestErrors = z.array(z.object({ code: z.string(), message: z.string() }))

/**
 * Why a launch that OCI had accepted failed later, in words; undefined where its work request tells of no failure.
 * Source: OCI's Work Requests API, part of Compute.
 */
export const launchFailureOf = async (
  api: Api,
  region: string,
  instance: Pick<SeenInstance, 'id' | 'compartmentId'>,
): Promise<Answer<string | undefined>> => {
  const query = { compartmentId: instance.compartmentId, resourceId: instance.id }
  const listed = await api.ask('work requests', region, async ({ get }) =>
    workRequests.parse(await get('/workRequests', query)),
  )
  return after(listed, async (requests) => {
    const launch = requests.find(({ operationType }) => /launch/i.test(operationType))
    if (launch?.status !== 'FAILED') return ok(undefined)
    const errors = await api.ask('work request errors', region, async ({ get }) =>
      workRequestErrors.parse(await get(`/workRequests/${encodeURIComponent(launch.id)}/errors`, {})),
    )
    const [first] = errors.kind === 'ok' ? errors.value : []
    return ok(first ? `${first.code}: ${first.message}` : 'OCI gives no reason')
  })
}
