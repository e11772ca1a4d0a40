import * as z from 'zod'
import { keyId, keyName, keyRole, newApiKey } from '../lib/http/new-api-key.ts'
import { isLimited, type Limits, limits } from '../lib/model/limits.ts'
import { span } from '../lib/model/span.ts'
import type { ApiKey, ApiKeys } from '../lib/store/store.ts'
import { Failure } from './failure.ts'
import { numberIn } from './number-in.ts'
import { withKeys } from './open-keys.ts'
import { printer } from './print.ts'
import { limitWords, shownKey, untilWords } from './shown-key.ts'
import type { Work } from './surroundings.ts'
import { checked } from './usage.ts'

const lifetime = span.refine(
  (ms) => ms > 0,
  'a key must be good for some time; write a time span such as "90d"',
)
const wanted = z.object({
  name: keyName,
  role: keyRole,
  expires: lifetime.optional(),
  maxPricePerHour: numberIn(limits.shape.max_price_per_hour.unwrap()).optional(),
  maxInstances: numberIn(limits.shape.max_instances.unwrap()).optional(),
  monthlyBudget: numberIn(limits.shape.monthly_budget.unwrap()).optional(),
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
  const inherited = await withKeys(at, options, (keys) => add(keys, kept))
  if (inherited === 'taken') {
    throw new Failure(
      'failed',
      `There is a key named ${name} already. Take another name, or revoke that one first: berth keys revoke ${name}`,
    )
  }
  if (inherited) {
    const what = limitWords({ limits: inherited })
    print.note(
      `What the key of that name before it might spend holds for it, too: ${what}. See: berth keys limit`,
    )
  }
  print.note(`The key of ${name} (${role}, ${untilWords(kept)}) is shown this once, and kept nowhere:`)
  if (json) print.json({ apiKey, ...shownKey({ ...kept, limits: inherited ?? kept.limits }) })
  else print.tell(apiKey)
}

/** `berth keys list` */
export const listKeys: Work = async (at, { options }) => {
  const keys = await withKeys(at, options, (opened) => opened.listApiKeys())
  const print = printer(at)
  if (plain.parse(options).json) return print.json({ keys: keys.map(shownKey) })
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
      at.now() < (key.expiresAt ?? Number.POSITIVE_INFINITY) ? untilWords(key) : 'expired',
      limitWords(key),
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
  if (plain.parse(options).json) return print.json({ revoked: shownKey(revoked) })
  print.tell(
    `The key of ${revoked.name} (${keyId(revoked)}) is revoked. It may be good for up to two more minutes. Machines and ` +
      'fleets that were asked for with it go on, within its limits; see: berth ps, berth fleets',
  )
}

/** Adds a key. One without limits gets those that the key of its name had before it, if any. */
const add = async (keys: ApiKeys, key: ApiKey): Promise<Limits | 'taken' | undefined> => {
  const before = key.limits ? undefined : await keys.keyLimits(key.name)
  return (await keys.addApiKey({ ...key, ...(before && { limits: before }) })) ? before : 'taken'
}
