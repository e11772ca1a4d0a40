import * as z from 'zod'
import { applyFleet, knownFleet, planApply } from '../lifecycle/apply-fleet.ts'
import { deleteFleet } from '../lifecycle/delete-fleet.ts'
import { nodesOf } from '../lifecycle/fleet-nodes.ts'
import { BerthError } from '../model/errors.ts'
import { fleetFile, fleetName } from '../model/fleet-file.ts'
import { fleetView, planView } from './fleet-view.ts'
import type { HttpRequest, Route } from './http-handler.ts'
import { parseBody, parseWith } from './parse.ts'
import { json } from './problem.ts'

const planQuery = z.strictObject({
  plan: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
})

/** Everything below /fleets. The body of a PUT is dstack's fleet file, as JSON. */
export const fleetRoutes: Route[] = [
  {
    method: 'PUT',
    path: '/fleets/{name}',
    handle: async (ctx, request) => {
      const { plan: isPlan } = parseWith(planQuery, request.query, 'query')
      const name = nameOf(request)
      const file = parseBody(fleetFile, request)
      if (file.name !== undefined && file.name !== name) throw otherName(file.name, name)
      const apply = isPlan ? planApply : applyFleet
      const { plan, known } = await apply(ctx, name, file.spec, request.caller)
      const now = ctx.clock.now()
      return json(200, { fleet: known ? fleetView(known, now) : null, plan: planView(plan, now) })
    },
  },
  {
    method: 'GET',
    path: '/fleets',
    handle: async (ctx, { query }) => {
      parseWith(z.strictObject({}), query, 'query')
      const all = await ctx.store.fleets.list()
      const now = ctx.clock.now()
      const shown = all.map(async (fleet) => fleetView({ fleet, nodes: await nodesOf(ctx, fleet) }, now))
      return json(200, { fleets: await Promise.all(shown) })
    },
  },
  {
    method: 'GET',
    path: '/fleets/{name}',
    handle: async (ctx, request) =>
      json(200, fleetView(await knownFleet(ctx, request.parameters.name ?? ''), ctx.clock.now())),
  },
  {
    method: 'DELETE',
    path: '/fleets/{name}',
    handle: async (ctx, request) => {
      parseWith(z.strictObject({}), request.query, 'query')
      const known = await deleteFleet(ctx, request.parameters.name ?? '', request.caller)
      return json(202, fleetView(known, ctx.clock.now()))
    },
  },
]

const nameOf = ({ parameters }: HttpRequest): string =>
  parseWith(z.object({ name: fleetName }), { name: parameters.name }, 'path').name

const otherName = (inFile: string, name: string): BerthError => {
  const message = `is "${inFile}", and the path says "${name}"; they must be the same`
  return new BerthError('invalid_request', `Nothing was done. name: ${message}`, [{ path: 'name', message }])
}
