import { type Answer, after, ok } from './answer.ts'
import type { Api, Clients, Page } from './api.ts'
import { notReady } from './compartment.ts'

/** What parts of a network have in common. */
export type Resource = { id: string; lifecycleState: unknown; timeCreated?: unknown }

/**
 * The resource of a name, made where there is none. Names are not unique: of several the oldest counts, for everybody.
 * Two that make it at once use one retry token, which gives both the same.
 */
export const ensureNamed = async <Found extends Resource>(
  api: Api,
  region: string,
  what: string,
  calls: {
    list: (clients: Clients, page: { page?: string }) => Promise<Page<Found>>
    make: (clients: Clients, token: { opcRetryToken?: string }) => Promise<Found>
    token: string
  },
): Promise<Answer<Found>> => {
  const listed = await api.list(what, region, (clients, page) =>
    calls.list(clients, page === undefined ? {} : { page }),
  )
  return after(listed, async (all) => {
    const living = all.filter(({ lifecycleState }) => !/^TERMINAT/.test(String(lifecycleState)))
    const [oldest] = living.toSorted((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))
    if (oldest) return whenAvailable(what, oldest)
    const make = (token: { opcRetryToken?: string }) =>
      api.ask(what, region, (clients) => calls.make(clients, token))
    const made = await make({ opcRetryToken: calls.token.slice(0, 64) })
    // Somebody deleted what was made with the token less than a day ago.
    const isStale = made.kind === 'failed' && made.code === 'InvalidatedRetryToken'
    return after(isStale ? await make({}) : made, (found) => whenAvailable(what, found))
  })
}

const whenAvailable = <Found extends Resource>(what: string, found: Found): Answer<Found> =>
  String(found.lifecycleState) === 'AVAILABLE' ? ok(found) : notReady(`${what} is being made`, 5000)

const ageOf = ({ timeCreated, id }: Resource): string =>
  `${timeCreated instanceof Date ? timeCreated.toISOString() : String(timeCreated)} ${id}`
