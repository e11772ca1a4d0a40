import * as z from 'zod'
import { keptLimits, type Limits, limits } from '../lib/model/limits.ts'
import { Failure } from './failure.ts'
import { numberIn } from './number-in.ts'
import { withKeys } from './open-keys.ts'
import { printer } from './print.ts'
import { limitWords, shownKey } from './shown-key.ts'
import type { Work } from './surroundings.ts'
import { checked, given } from './usage.ts'

const orNone = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .union([z.literal('none'), numberIn(schema)], 'write a number of at least 0 such as 500, or none')
    .optional()
const wanted = z.object({
  maxPricePerHour: orNone(limits.shape.max_price_per_hour.unwrap()),
  maxInstances: orNone(limits.shape.max_instances.unwrap()),
  monthlyBudget: orNone(limits.shape.monthly_budget.unwrap()),
  json: z.boolean().default(false),
})

/** `berth keys limit` */
export const limitKey: Work = async (at, { arguments: [name = ''], options }) => {
  const { json, ...said } = checked(wanted, options)
  const changes = given({
    max_price_per_hour: said.maxPricePerHour,
    max_instances: said.maxInstances,
    monthly_budget: said.monthlyBudget,
  })
  if (Object.keys(changes).length === 0) {
    throw new Failure(
      'wrongUsage',
      'Say what may be spent: --max-price-per-hour, --max-instances or --monthly-budget, with a number or none.',
    )
  }
  const limited = await withKeys(at, options, async (keys) => {
    const key = (await keys.listApiKeys()).find((each) => each.name === name)
    const next = key && { ...key, limits: changed(key.limits, changes) }
    // False where it is revoked at the same moment.
    return next && (await keys.changeApiKey(next)) ? next : undefined
  })
  if (!limited) throw new Failure('nothingFound', `There is no key ${name}. See: berth keys list`)
  const print = printer(at)
  if (json) return print.json(shownKey(limited))
  const what = limitWords(limited) || 'what the deployment allows'
  print.tell(`With the key of ${name} may be spent: ${what}. What runs already goes on.`)
}

const changed = (known: Limits | undefined, changes: Record<string, unknown>): Limits => {
  const next: Record<string, unknown> = { ...known, ...changes }
  return keptLimits.parse(Object.fromEntries(Object.entries(next).filter(([, limit]) => limit !== 'none')))
}
