import type { Operation } from './operations.ts'

/** What a test may set at any time; none of it outlives the cloud. */
export type Switches = {
  /** All requests are answered with 401, or with 404, as those of credentials that are broken. */
  credentials: 'good' | 'all_401' | 'all_404'
  /** Milliseconds of the clock that a new session token is good for. */
  tokenLastsMs: number
  /** A token that has run out can't be exchanged, though its session goes on. */
  onlyFreshTokensRefresh: boolean
  /** These lists begin with an empty page that names a next one. */
  emptyFirstPage: Set<Operation>
  /** Rows on a page, where it is to be less than the service's own. */
  pageSize: Partial<Record<Operation, number>>
  /** Capacity reports say the opposite of what is. */
  capacityReportsLie: boolean
  /** Capacity reports count what is there (the default for VMs), or leave the count out. */
  capacityCounts: 'vms' | 'all' | 'none'
  /** An instance that is being provisioned can't be terminated yet: 409. */
  noTerminationWhileProvisioning: boolean
}

export const defaultSwitches = (): Switches => ({
  credentials: 'good',
  tokenLastsMs: 60 * 60_000,
  onlyFreshTokensRefresh: false,
  emptyFirstPage: new Set(),
  pageSize: {},
  capacityReportsLie: false,
  capacityCounts: 'vms',
  noTerminationWhileProvisioning: false,
})
