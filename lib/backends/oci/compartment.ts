import { type Answer, after, failed, ok } from './answer.ts'
import type { Api } from './api.ts'
import { compartmentName, type Places } from './places.ts'

/** Something was asked for and is not ready: to be asked about again after a while. */
export const notReady = (message: string, retryAfterMs: number) => ({
  ...failed(undefined, 'NotReady', message),
  retryAfterMs,
})

/**
 * The compartment to work in: the configured one, or Berth's own, made at first. A new one takes minutes to be usable,
 * and is not waited for.
 */
export const ensureCompartment = async (api: Api, places: Places): Promise<Answer<string>> =>
  after(await places.compartment(), async (id) =>
    id !== undefined
      ? ok(id)
      : after(await places.regions(), (regions) => makeCompartment(api, places, regions)),
  )

const makeCompartment = async (
  api: Api,
  places: Places,
  { tenancy, home }: { tenancy: string; home: string },
): Promise<Answer<string>> => {
  const made = await api.ask('a compartment', home, async ({ identity }) => {
    const { compartment } = await identity.createCompartment({
      createCompartmentDetails: {
        compartmentId: tenancy,
        name: compartmentName,
        description: 'Machines that Berth rents, and their network',
      },
      // Two that come at once make one.
      opcRetryToken: `${compartmentName}-compartment`,
    })
    return { id: compartment.id, state: String(compartment.lifecycleState) }
  })
  places.forgetCompartment()
  // 409: it is there, and not yet ACTIVE.
  if (made.kind === 'failed' && made.status !== 409) return made
  if (made.kind === 'ok' && made.value.state === 'ACTIVE') return ok(made.value.id)
  return notReady(`The compartment "${compartmentName}" is being made, which takes some minutes`, 30_000)
}
