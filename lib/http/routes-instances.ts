import * as z from 'zod'
import { createInstance } from '../lifecycle/create.ts'
import { endByUser } from '../lifecycle/end.ts'
import { forfeited } from '../lifecycle/forfeited.ts'
import { createRequest } from '../model/request.ts'
import { status } from '../model/status.ts'
import {
  type DeletedInstance,
  deletedInstance,
  type InstanceAnswer,
  type InstancePage,
  type InstanceWithEvents,
  instanceAnswer,
  instancePage,
  instanceWithEvents,
  type ReservationPage,
  reservationPage,
} from './answers.ts'
import { anInstance, aRequest, aReservation } from './examples.ts'
import type { HttpRequest, Route } from './http-handler.ts'
import { eventView, instanceView, reservationView } from './instance-view.ts'
import { instancePath, knownInstance } from './known-instance.ts'
import { parseBody, parseWith } from './parse.ts'
import { json } from './problem.ts'

const pageQuery = {
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(200)
    .default(100)
    .meta({ description: 'How many a page has at most.' }),
  cursor: z
    .string()
    .max(2000)
    .regex(/^[\w.-]*$/, 'send the cursor of the page before as it was')
    .optional()
    .meta({ description: 'The `cursor` of the page before.' }),
}
const listQuery = z.strictObject({
  status: status.optional().meta({ description: 'Only those that stand there. Else all that live.' }),
  ...pageQuery,
})
const reservationsQuery = z.strictObject(pageQuery)
const deleteQuery = z.strictObject({
  force: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .meta({ description: 'true gives the machine back now. What is prepaid is lost.' }),
})
const createHeaders = z.object({
  'Idempotency-Key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'use 1 to 255 printable ASCII characters without spaces')
    .optional()
    .meta({
      description:
        'The same request with the same key, however often, gives one instance, and never rents twice.',
      examples: ['train-42'],
    }),
})
/** Reservations that ended stay listed for a month. */
const listedAfterEndMs = 30 * 86_400_000

/** Everything below /instances, and /reservations. */
export const instanceRoutes: Route[] = [
  {
    method: 'POST',
    path: '/instances',
    about: {
      operationId: 'createInstance',
      tag: 'instances',
      summary: 'Rent a machine',
      description:
        'Takes an idle machine that fits, at no new charge, or rents a new one: the best offer that can be had, at most one paid machine. Money runs from the moment of the rental, a minimum at once where the cloud has one (see GET /offers). It is claimed by the caller, and given back by itself once it is idle for `idleDuration` and nothing prepaid is left. Send an `Idempotency-Key`: after an answer that got lost the same request gives the same instance. The body is read as JSON whatever its content type; an empty one asks for any machine.',
      headers: createHeaders,
      body: {
        schema: createRequest,
        examples: {
          bareMetal: { gpu: 'MI300X:8', instanceTypes: ['bm-mi300x-8'], idleDuration: '10m' },
          oneGpu: { name: 'trainer', gpu: 'nvidia:80GB..:1', maxPrice: 5, maxDuration: '12h' },
          forThePool: { gpu: 'MI300X:1', claim: false, idleDuration: '1h' },
        },
      },
      answer: {
        status: 202,
        description: 'The instance. Look at it with GET /instances/{id} until it is `busy`.',
        schema: instanceAnswer,
        headers: z.object({ location: z.string().meta({ description: 'Its path.' }) }),
        examples: { pending: aRequest },
      },
      problems: ['idempotency_conflict', 'limit_exceeded'],
    },
    handle: async (ctx, request) => {
      const body = parseBody(createRequest, request)
      const key = parseWith(createHeaders, headersOf(request), 'header')
      const instance = await createInstance(ctx, body, {
        name: request.caller,
        idempotencyKey: key['Idempotency-Key'],
      })
      return json<InstanceAnswer>(202, instanceView(instance, ctx.clock.now()), {
        location: `/instances/${instance.id}`,
      })
    },
  },
  {
    method: 'GET',
    path: '/instances',
    about: {
      operationId: 'listInstances',
      tag: 'instances',
      summary: 'List instances',
      description:
        'Those that live, what is in use or on its way before what is idle or on its way out; or those of one status; the newest first of each kind, each with what it costs. One that goes from one kind to the other between two pages can be on both.',
      query: listQuery,
      answer: {
        status: 200,
        description: 'A page of instances.',
        schema: instancePage,
        examples: { one: { instances: [anInstance] } },
      },
    },
    handle: async (ctx, { query }) => {
      const { status, limit, cursor } = parseWith(listQuery, query, 'query')
      const page = await ctx.store.list({ limit, ...(status && { status }), ...(cursor && { cursor }) })
      const now = ctx.clock.now()
      return json<InstancePage>(200, {
        instances: page.instances.map((each) => instanceView(each, now)),
        ...nextPage(page.cursor),
      })
    },
  },
  {
    method: 'GET',
    path: '/instances/{id}',
    about: {
      operationId: 'getInstance',
      tag: 'instances',
      summary: 'Get an instance',
      description:
        'One instance with every event of its history, what it has cost so far and until when it is prepaid.',
      path: instancePath,
      answer: {
        status: 200,
        description: 'The instance.',
        schema: instanceWithEvents,
        examples: {
          busy: {
            ...anInstance,
            events: [
              { at: '2030-01-01T00:21:00.000Z', status: 'busy', phase: null, message: 'ready for alice' },
            ],
          },
        },
      },
      problems: ['not_found'],
    },
    handle: async (ctx, request) => {
      const instance = await knownInstance(ctx, request)
      const older = await ctx.store.olderEvents(instance)
      const events = [...older, ...instance.events].map(eventView)
      return json<InstanceWithEvents>(200, { ...instanceView(instance, ctx.clock.now()), events })
    },
  },
  {
    method: 'DELETE',
    path: '/instances/{id}',
    about: {
      operationId: 'deleteInstance',
      tag: 'instances',
      summary: 'Give a machine back',
      description:
        'Ends the use of it at once, whatever runs on it. A prepaid machine is given back at `releaseAt`, when what is paid for is over, since that costs nothing more; with `force=true` it is given back now, and the answer says what is forfeited. It is `terminated` once the cloud has shown that it is gone. Asked again, nothing changes.',
      path: instancePath,
      query: deleteQuery,
      answer: {
        status: 202,
        description: 'The instance, on its way to its end.',
        schema: deletedInstance,
        examples: {
          prepaid: { ...anInstance, status: 'terminating', releaseAt: anInstance.reservedUntil },
          forced: {
            ...anInstance,
            status: 'terminating',
            forfeited:
              '$216.96 was charged for the time until 2030-01-01T08:00:04.000Z; 450 prepaid minutes are forfeited',
          },
        },
      },
      problems: ['not_found'],
    },
    handle: async (ctx, request) => {
      const { force } = parseWith(deleteQuery, request.query, 'query')
      const known = await knownInstance(ctx, request)
      const lost = known.force ? undefined : forfeited(known, ctx.clock.now())
      const instance = await endByUser(ctx, known, { holder: request.caller, force })
      return json<DeletedInstance>(202, {
        ...instanceView(instance, ctx.clock.now()),
        ...(force && lost !== undefined && { forfeited: lost }),
      })
    },
  },
  {
    method: 'GET',
    path: '/reservations',
    about: {
      operationId: 'listReservations',
      tag: 'reservations',
      summary: 'List prepaid time',
      description:
        'What was prepaid, until when, and what became of it; those that ended stay for a month. An idle machine is kept until its `reservedUntil`, and goes to the next request that fits, at no new charge.',
      query: reservationsQuery,
      answer: {
        status: 200,
        description: 'A page of reservations.',
        schema: reservationPage,
        examples: { one: { reservations: [aReservation] } },
      },
    },
    handle: async (ctx, { query }) => {
      const { limit, cursor } = parseWith(reservationsQuery, query, 'query')
      const since = ctx.clock.now() - listedAfterEndMs
      const page = await ctx.store.reserved({ since, limit, ...(cursor && { cursor }) })
      return json<ReservationPage>(200, {
        reservations: page.instances.map(reservationView),
        ...nextPage(page.cursor),
      })
    },
  },
]

const headersOf = (request: HttpRequest) => ({ 'Idempotency-Key': request.idempotencyKey })

const nextPage = (cursor: string | undefined) => (cursor === undefined ? {} : { cursor })
