import * as z from 'zod'
import { type Cost, costsOf, type Limited, limitsInUse } from '../lifecycle/costs.ts'
import { monthOf } from '../model/billing.ts'
import { costLine } from '../model/cost.ts'
import { toDollars } from '../model/money.ts'
import type { Route } from './http-handler.ts'
import { parseWith } from './parse.ts'
import { json } from './problem.ts'

const costsQuery = z.strictObject({ month: costLine.shape.month.optional() })

/** What was spent in a month of UTC, and what of the limits is used. */
export const costRoutes: Route[] = [
  {
    method: 'GET',
    path: '/costs',
    handle: async (ctx, { query }) => {
      const { month = monthOf(ctx.clock.now()) } = parseWith(costsQuery, query, 'query')
      const [costs, { deployment, keys }] = await Promise.all([costsOf(ctx, month), limitsInUse(ctx)])
      return json(200, {
        month,
        total: sumOf(costs),
        byBackend: totals(costs, 'backend'),
        byKey: totals(costs, 'key'),
        byFleet: totals(
          costs.filter(({ fleet }) => fleet !== undefined),
          'fleet',
        ),
        instances: costs.toSorted((one, other) => other.cents - one.cents).map(costView),
        limits: {
          deployment: deployment ? limitsView(deployment) : null,
          keys: keys.map(({ key, ...limited }) => ({ key, ...limitsView(limited) })),
        },
      })
    },
  },
]

const sumOf = (costs: Cost[]): number => toDollars(costs.reduce((sum, { cents }) => sum + cents, 0))

const totals = (costs: Cost[], by: 'backend' | 'key' | 'fleet') =>
  [...Map.groupBy(costs, (cost) => cost[by])].map(([name, group]) => ({
    [by]: name ?? null,
    cost: sumOf(group),
  }))

const costView = ({ instanceId, name, backend, instanceType, key, fleet, ms, cents, running }: Cost) => ({
  instanceId,
  name,
  backend: backend ?? null,
  instanceType: instanceType ?? null,
  key,
  fleet: fleet ?? null,
  hours: Math.round(ms / 36_000) / 100,
  cost: toDollars(cents),
  running,
})

/** Each limit that is set, beside what is used of it. */
const limitsView = ({ limits, used }: Limited) => ({
  ...(limits.max_price_per_hour !== undefined && {
    maxPricePerHour: { limit: toDollars(limits.max_price_per_hour), used: toDollars(used.pricePerHour) },
  }),
  ...(limits.max_instances !== undefined && {
    maxInstances: { limit: limits.max_instances, used: used.instances },
  }),
  ...(limits.monthly_budget !== undefined && {
    monthlyBudget: { limit: toDollars(limits.monthly_budget), used: toDollars(used.month) },
  }),
})
