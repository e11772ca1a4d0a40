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

/**
 * What is not found in Berth's own compartment is asked for again: it is made in the home region, and the others hear of
 * it some minutes later. A compartment that the settings name is not there, then.
 */
export const untilKnown = <Value>(places: Pick<Places, 'isOwn'>, answer: Answer<Value>): Answer<Value> => {
  if (answer.kind === 'ok' || answer.status !== 404 || !places.isOwn) return answer
  const why = 'a compartment that was just made is known in all regions after some minutes'
  return notReady(`${answer.message} (${why}; if this stays, do the policies allow it?)`, 30_000)
}

const makeCompartment = async (
  api: Api,
  places: Places,
  { tenancy, home }: { tenancy: string; home: string },
): Promise<Answer<string>> => {
  const make = (token: { opcRetryToken?: string }) =>
    api.ask('a compartment', home, async ({ identity }) => {
      const { compartment } = await identity.createCompartment({
        createCompartmentDetails: {
          compartmentId: tenancy,
          name: compartmentName,
          description: 'Machines that Berth rents, and their network',
        },
        ...token,
      })
      return { id: compartment.id, state: String(compartment.lifecycleState) }
    })
  // Two that come at once make one.
  const first = await make({ opcRetryToken: `${compartmentName}-compartment` })
  // The one that was made with the token less than a day ago was deleted.
  const isStale = first.kind === 'failed' && first.code === 'InvalidatedRetryToken'
  const made = isStale ? await make({}) : first
  places.forgetCompartment()
  // 409: it is there, and not yet ACTIVE.
  if (made.kind === 'failed' && made.status !== 409) return made
  if (made.kind === 'ok' && made.value.state === 'ACTIVE') return ok(made.value.id)
  return notReady(`The compartment "${compartmentName}" is being made, which takes some minutes`, 30_000)
}
