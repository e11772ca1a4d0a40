import { keyId } from '../lib/http/new-api-key.ts'
import { formatDollars, toDollars } from '../lib/model/money.ts'
import type { ApiKey } from '../lib/store/store.ts'

/** A key as `--json` shows it. */
export const shownKey = (key: ApiKey) => ({
  name: key.name,
  role: key.role,
  id: keyId(key),
  createdAt: new Date(key.createdAt).toISOString(),
  expiresAt: key.expiresAt === undefined ? null : new Date(key.expiresAt).toISOString(),
  limits: {
    maxPricePerHour: dollarsOf(key.limits?.max_price_per_hour),
    maxInstances: key.limits?.max_instances ?? null,
    monthlyBudget: dollarsOf(key.limits?.monthly_budget),
  },
})

const dollarsOf = (cents: number | undefined) => (cents === undefined ? null : toDollars(cents))

/** What may be spent with a key, in words. */
export const limitWords = ({ limits: own = {} }: Pick<ApiKey, 'limits'>): string =>
  [
    own.max_price_per_hour !== undefined && `${formatDollars(own.max_price_per_hour)} an hour`,
    own.max_instances !== undefined && `${own.max_instances} instances`,
    own.monthly_budget !== undefined && `${formatDollars(own.monthly_budget)} a month`,
  ]
    .filter(Boolean)
    .join(', ')

/** Until when it is good, in words. */
export const untilWords = ({ expiresAt }: Pick<ApiKey, 'expiresAt'>) =>
  expiresAt === undefined ? 'never expires' : `expires ${new Date(expiresAt).toISOString().slice(0, 16)}Z`
