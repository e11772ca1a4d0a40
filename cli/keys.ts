import * as z from 'zod'
import { keyId, keyName, keyRole, newApiKey } from '../lib/http/new-api-key.ts'
import { isLimited, limits } from '../lib/model/limits.ts'
import { formatDollars, toDollars } from '../lib/model/money.ts'
import { span } from '../lib/model/span.ts'
import type { ApiKey, ApiKeys } from '../lib/store/store.ts'
import { Failure } from './failure.ts'
import { openKeys } from './open-keys.ts'
import { printer } from './print.ts'
import type { Surroundings, Work } from './surroundings.ts'
import { checked } from './usage.ts'

const place = z.object({
  table: z.string().min(1).optional(),
  region: z.string().min(1).optional(),
  data: z.string().min(1).optional(),
})
const lifetime = span.refine(
  (ms) => ms > 0,
  'a key must be good for some time; write a time span such as "90d"',
)
const wanted = z.object({
  name: keyName,
  role: keyRole,
  expires: lifetime.optional(),
  maxPricePerHour: limits.shape.max_price_per_hour,
  maxInstances: limits.shape.max_instances,
  monthlyBudget: limits.shape.monthly_budget,
  json: z.boolean().default(false),
})
const plain = z.object({ json: z.boolean().default(false) })

/** `berth keys create` */
export const createKey: Work = async (at, { options }) => {
  const { name, role, expires, json, ...may } = checked(wanted, options)
  const own = {
    max_price_per_hour: may.maxPricePerHour,
    max_instances: may.maxInstances,
    monthly_budget: may.monthlyBudget,
  }
  const print = printer(at)
  const createdAt = at.now()
  const expiresAt = expires === undefined ? undefined : createdAt + expires
  const { apiKey, kept } = newApiKey({
    name,
    role,
    createdAt,
    ...(expiresAt && { expiresAt }),
    ...(isLimited(own) && { limits: own }),
  })
  const isNew = await withKeys(at, options, (keys) => keys.addApiKey(kept))
  if (!isNew) {
    throw new Failure(
      'failed',
      `There is a key named ${name} already. Take another name, or revoke that one first: berth keys revoke ${name}`,
    )
  }
  print.note(`The key of ${name} (${role}, ${until(kept)}) is shown this once, and kept nowhere:`)
  if (json) print.json({ apiKey, ...shown(kept) })
  else print.tell(apiKey)
}

/** `berth keys list` */
export const listKeys: Work = async (at, { options }) => {
  const keys = await withKeys(at, options, (opened) => opened.listApiKeys())
  const print = printer(at)
  if (plain.parse(options).json) return print.json({ keys: keys.map(shown) })
  if (keys.length === 0) {
    return print.note('There is no key yet: berth keys create --name NAME --role operator')
  }
  print.table(
    ['NAME', 'ROLE', 'ID', 'MADE', 'EXPIRES', 'LIMITS'],
    keys.map((key) => [
      key.name,
      key.role,
      keyId(key),
      new Date(key.createdAt).toISOString().slice(0, 10),
      at.now() < (key.expiresAt ?? Number.POSITIVE_INFINITY) ? until(key) : 'expired',
      limitsOf(key),
    ]),
  )
}

/** `berth keys revoke` */
export const revokeKey: Work = async (at, { arguments: [nameOrId = ''], options }) => {
  const revoked = await withKeys(at, options, async (keys) => {
    const all = await keys.listApiKeys()
    const key = all.find(({ name }) => name === nameOrId) ?? all.find((each) => keyId(each) === nameOrId)
    return key && (await keys.removeApiKey(key.name))
  })
  if (!revoked) throw new Failure('nothingFound', `There is no key ${nameOrId}. See: berth keys list`)
  const print = printer(at)
  if (plain.parse(options).json) print.json({ revoked: shown(revoked) })
  const words = `The key of ${revoked.name} (${keyId(revoked)}) is revoked. It may be good for up to two more minutes.`
  if (!plain.parse(options).json) print.tell(words)
}

const withKeys = async <Result>(
  { env }: Surroundings,
  options: unknown,
  work: (keys: ApiKeys) => Promise<Result>,
): Promise<Result> => {
  const opened = await openKeys({ ...place.parse(options), dynamoEndpoint: env.DYNAMODB_ENDPOINT })
  try {
    return await work(opened.keys)
  } finally {
    await opened.close()
  }
}

/** A key as `--json` shows it. */
const shown = (key: ApiKey) => ({
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
const limitsOf = ({ limits: own = {} }: ApiKey): string =>
  [
    own.max_price_per_hour !== undefined && `${formatDollars(own.max_price_per_hour)} an hour`,
    own.max_instances !== undefined && `${own.max_instances} instances`,
    own.monthly_budget !== undefined && `${formatDollars(own.monthly_budget)} a month`,
  ]
    .filter(Boolean)
    .join(', ')

const until = ({ expiresAt }: Pick<ApiKey, 'expiresAt'>) =>
  expiresAt === undefined ? 'never expires' : `expires ${new Date(expiresAt).toISOString().slice(0, 16)}Z`
