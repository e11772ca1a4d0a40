import { type Endpoint, endpoints } from './faults.ts'

/** Which call a request makes; the names in its path, decoded. */
export type Route = { endpoint: Endpoint; team?: string; name?: string }

/** The call of a method and path, `405` for a path that knows no such method, `404` for one that is not known. */
export const route = (method: string, path: string): Route | 404 | 405 => {
  const known = table.flatMap(({ endpoint, pattern }) => {
    const groups = pattern.exec(path)?.groups
    return groups ? [{ endpoint, groups }] : []
  })
  // The first that matches: `available` is no machine's name.
  const own = known.find(({ endpoint }) => endpoint.startsWith(`${method} `))
  if (!own) return known.length === 0 ? 404 : 405
  const { team, name } = own.groups
  return {
    endpoint: own.endpoint,
    ...(team === undefined ? {} : { team: decodeURIComponent(team) }),
    ...(name === undefined ? {} : { name: decodeURIComponent(name) }),
  }
}

/** Every path ends in a slash, as in the contract. The empty group keeps `groups` defined. */
const table = endpoints.map((endpoint) => {
  const below = endpoint.slice(endpoint.indexOf(' ') + 1)
  const inTeam = below.startsWith('user') ? '' : 'teams/(?<team>[^/]+)/'
  const path = below.replace(/\{\w+\}/, '(?<name>[^/]+)')
  return { endpoint, pattern: new RegExp(`^/api/${inTeam}${path}/(?<end>)$`) }
})
