import * as z from 'zod'
import { openApi } from './api.ts'
import { printer } from './print.ts'
import { type Limited, type ShownCosts, shownCosts } from './spending-answers.ts'
import type { Work } from './surroundings.ts'
import { checked } from './usage.ts'
import { dollars } from './words.ts'

const options = z.object({
  month: z
    .string()
    .regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'write year and month, such as 2026-11')
    .optional(),
  json: z.boolean().default(false),
})

/** `berth cost` */
export const cost: Work = async (at, { options: written }) => {
  const { month, json } = checked(options, written)
  const query = month === undefined ? '' : `?month=${month}`
  const { value, raw } = await openApi(at, written).call(shownCosts, 'GET', `/costs${query}`)
  const print = printer(at)
  if (json) return print.json(raw)
  if (value.instances.length === 0) print.note(`Nothing was spent in ${value.month} (UTC).`)
  else printCosts(print, value)
  for (const line of limitLines(value)) print.note(line)
}

const printCosts = (print: ReturnType<typeof printer>, costs: ShownCosts) => {
  const withFleets = costs.byFleet.length > 0
  const head = [
    'INSTANCE',
    'BACKEND',
    'INSTANCE TYPE',
    'KEY',
    ...(withFleets ? ['FLEET'] : []),
    'HOURS',
    'COST',
    '',
  ]
  print.table(
    head,
    costs.instances.map((each) => [
      each.name,
      each.backend ?? '-',
      each.instanceType ?? '-',
      each.key ?? '-',
      ...(withFleets ? [each.fleet ?? '-'] : []),
      each.hours.toFixed(2),
      dollars(each.cost),
      each.running ? print.styled('green', 'running') : '',
    ]),
  )
  print.tell('')
  print.tell(`${print.styled('bold', dollars(costs.total))} in ${costs.month} (UTC)`)
  const sums: [what: string, parts: [name: string | null, cost: number][]][] = [
    ['by backend', costs.byBackend.map((each) => [each.backend, each.cost])],
    ['by key', costs.byKey.map((each) => [each.key, each.cost])],
    ['by fleet', costs.byFleet.map((each) => [each.fleet, each.cost])],
  ]
  for (const [what, parts] of sums) {
    const text = parts.map(([name, amount]) => `${name ?? 'none'} ${dollars(amount)}`).join(', ')
    if (parts.length > 0) print.tell(`  ${what}: ${text}`)
  }
}

/** What of each limit is used: of the deployment, and of keys that have their own. */
const limitLines = ({ limits }: ShownCosts): string[] => [
  ...(limits?.deployment ? usedOf('this Berth', limits.deployment) : []),
  ...(limits?.keys ?? []).flatMap(({ key, ...each }) => usedOf(`key ${key}`, each)),
]

const usedOf = (whose: string, { maxPricePerHour, maxInstances, monthlyBudget }: Limited): string[] => {
  const parts = [
    maxPricePerHour && `${dollars(maxPricePerHour.used)} of ${dollars(maxPricePerHour.limit)} an hour`,
    maxInstances && `${maxInstances.used} of ${maxInstances.limit} instances`,
    monthlyBudget && `${dollars(monthlyBudget.used)} of ${dollars(monthlyBudget.limit)} this month`,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? [] : [`Limits of ${whose}: ${parts.join(', ')}`]
}
