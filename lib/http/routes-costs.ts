import * as z from 'zod'
import { type Cost, costsOf, type Limited, limitsInUse } from '../lifecycle/costs.ts'
import { monthOf } from '../model/billing.ts'
import { costLine } from '../model/cost.ts'
import { toDollars } from '../model/money.ts'
import { type CostsAnswer, costsAnswer } from './cost-answers.ts'
import { aMonth } from './examples.ts'
import type { Route } from './http-handler.ts'
import { parseWith } from './parse.ts'
import { json } from './problem.ts'

const costsQuery = z.strictObject({ month: costLine.shape.month.optional() })

/** What was spent in a month of UTC, and what of the limits is used. */
export const costRoutes: Route[] = [
  {
    method: 'GET',
    path: '/costs',
    about: {
      operationId: 'getCosts',
      tag: 'costs',
      summary: 'What a month cost',
      description:
        'What the clouds charge for a month of UTC, by their own rules and to the cent: in all, by backend, by API key, by fleet and by instance; and each limit that is set, beside what of it is committed. A minimum is charged in the month in which it began.',
      query: costsQuery,
      answer: {
        status: 200,
        description: 'The costs of the month, up to now.',
        schema: costsAnswer,
        examples: { month: aMonth },
      },
    },
    handle: async (ctx, { query }) => {
      const { month = monthOf(ctx.clock.now()) } = parseWith(costsQuery, query, 'query')
      const [costs, { deployment, keys }] = await Promise.all([costsOf(ctx, month), limitsInUse(ctx)])
      return json<CostsAnswer>(200, {
        month,
        total: sumOf(costs),
        byBackend: totals(costs, ({ backend }) => backend).map(([backend, cost]) => ({ backend, cost })),
        byKey: totals(costs, ({ key }) => key).map(([key, cost]) => ({ key, cost })),
        byFleet: totals(
          costs.filter(({ fleet }) => fleet !== undefined),
          ({ fleet }) => fleet,
        ).map(([fleet, cost]) => ({ fleet, cost })),
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

const totals = (costs: Cost[], of: (cost: Cost) => string | undefined): [string | null, number][] =>
  [...Map.groupBy(costs, of)].map(([name, group]) => [name ?? null, sumOf(group)])

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
