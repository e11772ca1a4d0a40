import * as z from 'zod'
import { applyFleet, knownFleet, planApply } from '../lifecycle/apply-fleet.ts'
import { deleteFleet } from '../lifecycle/delete-fleet.ts'
import { nodesOf } from '../lifecycle/fleet-nodes.ts'
import { BerthError } from '../model/errors.ts'
import { fleetFile, fleetName } from '../model/fleet-file.ts'
import {
  type AppliedAnswer,
  appliedFleet,
  type FleetAnswer,
  type FleetList,
  fleetAnswer,
  fleetList,
} from './fleet-answers.ts'
import { aFleet, aPlan } from './fleet-examples.ts'
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

const noQuery = z.strictObject({})
const fleetPath = z.object({ name: fleetName })

/** Everything below /fleets. The body of a PUT is dstack's fleet file, as JSON. */
export const fleetRoutes: Route[] = [
  {
    method: 'PUT',
    path: '/fleets/{name}',
    about: {
      operationId: 'applyFleet',
      tag: 'fleets',
      summary: 'Apply a fleet, or see the plan',
      description:
        "From now on the fleet is as the file says: nodes that are missing are rented, lost ones are replaced, and those that it has no more use for are given back when nobody has them and nothing of them is prepaid. With `plan=true` nothing is done: the plan says what would be created, kept and given back, and what that costs. The same file again changes nothing. The body is dstack's fleet file as JSON; a key that Berth does not know or support is an error that names it.",
      path: fleetPath,
      query: planQuery,
      body: {
        schema: fleetFile,
        examples: {
          bareMetal: {
            type: 'fleet',
            name: 'mi300x',
            nodes: 1,
            backends: ['hotaisle'],
            instance_types: ['bm-mi300x-8'],
          },
          elastic: { type: 'fleet', nodes: '0..4', resources: { gpu: 'MI300X:1' }, idle_duration: '30m' },
        },
      },
      answer: {
        status: 200,
        description: 'The fleet as it is now, and what was done or would be.',
        schema: appliedFleet,
        examples: { created: { fleet: aFleet, plan: aPlan } },
      },
      problems: ['fleet_deleted'],
    },
    handle: async (ctx, request) => {
      const { plan: isPlan } = parseWith(planQuery, request.query, 'query')
      const name = nameOf(request)
      const file = parseBody(fleetFile, request)
      if (file.name !== undefined && file.name !== name) throw otherName(file.name, name)
      const apply = isPlan ? planApply : applyFleet
      const { plan, known } = await apply(ctx, name, file.spec, request.caller)
      const now = ctx.clock.now()
      return json<AppliedAnswer>(200, {
        fleet: known ? fleetView(known, now) : null,
        plan: planView(plan, now),
      })
    },
  },
  {
    method: 'GET',
    path: '/fleets',
    about: {
      operationId: 'listFleets',
      tag: 'fleets',
      summary: 'List fleets',
      description: 'All of them, each with its nodes, what they cost an hour, and why a node is missing.',
      query: noQuery,
      answer: {
        status: 200,
        description: 'The fleets, by name.',
        schema: fleetList,
        examples: { one: { fleets: [aFleet] } },
      },
    },
    handle: async (ctx, { query }) => {
      parseWith(noQuery, query, 'query')
      const all = await ctx.store.fleets.list()
      const now = ctx.clock.now()
      const shown = all.map(async (fleet) => fleetView({ fleet, nodes: await nodesOf(ctx, fleet) }, now))
      return json<FleetList>(200, { fleets: await Promise.all(shown) })
    },
  },
  {
    method: 'GET',
    path: '/fleets/{name}',
    about: {
      operationId: 'getFleet',
      tag: 'fleets',
      summary: 'Show a fleet',
      description: 'What it is to be, what it has, what that costs an hour, and why a node is missing.',
      path: fleetPath,
      answer: {
        status: 200,
        description: 'The fleet.',
        schema: fleetAnswer,
        examples: { one: aFleet },
      },
      problems: ['not_found'],
    },
    handle: async (ctx, request) =>
      json<FleetAnswer>(
        200,
        fleetView(await knownFleet(ctx, request.parameters.name ?? ''), ctx.clock.now()),
      ),
  },
  {
    method: 'DELETE',
    path: '/fleets/{name}',
    about: {
      operationId: 'deleteFleet',
      tag: 'fleets',
      summary: 'Give a fleet back',
      description:
        'Its nodes end, and no new ones come. A node that is prepaid is given back when that time ends, and not sooner; one that somebody has when the claim ends. To forfeit what is prepaid, DELETE /instances/{id}?force=true.',
      path: fleetPath,
      query: noQuery,
      answer: {
        status: 202,
        description: 'The fleet, with when each of its nodes goes.',
        schema: fleetAnswer,
        examples: { going: { ...aFleet, status: 'deleting' } },
      },
      problems: ['not_found'],
    },
    handle: async (ctx, request) => {
      parseWith(noQuery, request.query, 'query')
      const known = await deleteFleet(ctx, request.parameters.name ?? '', request.caller)
      return json<FleetAnswer>(202, fleetView(known, ctx.clock.now()))
    },
  },
]

const nameOf = ({ parameters }: HttpRequest): string =>
  parseWith(fleetPath, { name: parameters.name }, 'path').name

const otherName = (inFile: string, name: string): BerthError => {
  const message = `is "${inFile}", and the path says "${name}"; they must be the same`
  return new BerthError('invalid_request', `Nothing was done. name: ${message}`, [{ path: 'name', message }])
}
