/** A region of the simulated cloud, and how many availability domains it has. */
export type SimulatedRegion = { name: string; domains: 1 | 3 }

/** The regions that have the Marketplace listings. */
export const defaultRegions: SimulatedRegion[] = [
  { name: 'eu-frankfurt-1', domains: 3 },
  { name: 'eu-milan-1', domains: 1 },
  { name: 'me-dubai-1', domains: 1 },
  { name: 'uk-london-1', domains: 3 },
  { name: 'us-ashburn-1', domains: 3 },
  { name: 'us-chicago-1', domains: 3 },
  { name: 'us-phoenix-1', domains: 3 },
]

/** What the two oldest regions are called in the names of their domains; the others go by their own name. */
const oldNames: Record<string, string> = { 'us-phoenix-1': 'PHX', 'us-ashburn-1': 'US-ASHBURN' }

/** The names that one tenancy has for the domains of a region; `prefix` is the tenancy's own. */
export const domainNames = ({ name, domains }: SimulatedRegion, prefix: string): string[] =>
  Array.from({ length: domains }, (_, n) => `${prefix}:${oldNames[name] ?? name.toUpperCase()}-AD-${n + 1}`)

const keys: Record<string, string> = {
  'eu-frankfurt-1': 'FRA',
  'eu-milan-1': 'LIN',
  'me-dubai-1': 'DXB',
  'uk-london-1': 'LHR',
  'us-ashburn-1': 'IAD',
  'us-chicago-1': 'ORD',
  'us-phoenix-1': 'PHX',
}

/** "FRA". */
export const regionKey = (name: string): string => keys[name] ?? name.toUpperCase()

/** What stands as `region` in an instance: the two oldest are shortened. */
export const regionOfInstance = (name: string): string =>
  name in oldNames ? regionKey(name).toLowerCase() : name
