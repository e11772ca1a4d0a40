import * as z from 'zod'
import type { Context } from '../context.ts'
import { claimInstance, releaseInstance } from '../lifecycle/claim.ts'
import { createInstance } from '../lifecycle/create.ts'
import { endByUser } from '../lifecycle/end.ts'
import { forfeited } from '../lifecycle/forfeited.ts'
import { BerthError } from '../model/errors.ts'
import type { Instance } from '../model/instance.ts'
import { claimRequest, createRequest } from '../model/request.ts'
import { status } from '../model/status.ts'
import type { HttpRequest, Route } from './http-handler.ts'
import { eventView, instanceView, reservationView } from './instance-view.ts'
import { parseBody, parseWith } from './parse.ts'
import { json } from './problem.ts'

const pageQuery = {
  limit: z.coerce.number().int().min(1).max(200).default(100),
  cursor: z.string().max(2000).optional(),
}
const listQuery = z.strictObject({ status: status.optional(), ...pageQuery })
const reservationsQuery = z.strictObject(pageQuery)
const deleteQuery = z.strictObject({
  force: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
})
const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'use 1 to 255 printable ASCII characters without spaces')
  .optional()
/** Reservations that ended stay listed for a month. */
const listedAfterEndMs = 30 * 86_400_000

/** Everything below /instances, and /reservations. */
export const instanceRoutes: Route[] = [
  {
    method: 'POST',
    path: '/instances',
    handle: async (ctx, request) => {
      const body = parseBody(createRequest, request)
      const key = parseWith(z.object({ 'Idempotency-Key': idempotencyKey }), headersOf(request), 'header')
      const instance = await createInstance(ctx, body, {
        name: request.caller,
        idempotencyKey: key['Idempotency-Key'],
      })
      return json(202, instanceView(instance, ctx.clock.now()), { location: `/instances/${instance.id}` })
    },
  },
  {
    method: 'GET',
    path: '/instances',
    handle: async (ctx, { query }) => {
      const { status, limit, cursor } = parseWith(listQuery, query, 'query')
      const page = await ctx.store.list({ limit, ...(status && { status }), ...(cursor && { cursor }) })
      const now = ctx.clock.now()
      return json(200, {
        instances: page.instances.map((each) => instanceView(each, now)),
        ...nextPage(page.cursor),
      })
    },
  },
  {
    method: 'GET',
    path: '/instances/{id}',
    handle: async (ctx, request) => {
      const instance = await find(ctx, request)
      const older = await ctx.store.olderEvents(instance)
      const events = [...older, ...instance.events].map(eventView)
      return json(200, { ...instanceView(instance, ctx.clock.now()), events })
    },
  },
  {
    method: 'DELETE',
    path: '/instances/{id}',
    handle: async (ctx, request) => {
      const { force } = parseWith(deleteQuery, request.query, 'query')
      const known = await find(ctx, request)
      const lost = known.force ? undefined : forfeited(known, ctx.clock.now())
      const instance = await endByUser(ctx, known, { holder: request.caller, force })
      return json(202, {
        ...instanceView(instance, ctx.clock.now()),
        ...(force && lost !== undefined && { forfeited: lost }),
      })
    },
  },
  {
    method: 'POST',
    path: '/instances/{id}/claim',
    handle: async (ctx, request) => {
      const { hold } = parseBody(claimRequest, request)
      const instance = await claimInstance(ctx, await find(ctx, request), { holder: request.caller, hold })
      return json(200, instanceView(instance, ctx.clock.now()))
    },
  },
  {
    method: 'POST',
    path: '/instances/{id}/release',
    handle: async (ctx, request) => {
      parseBody(z.strictObject({}), request)
      const instance = await releaseInstance(ctx, await find(ctx, request), request.caller)
      return json(200, instanceView(instance, ctx.clock.now()))
    },
  },
  {
    method: 'GET',
    path: '/reservations',
    handle: async (ctx, { query }) => {
      const { limit, cursor } = parseWith(reservationsQuery, query, 'query')
      const since = ctx.clock.now() - listedAfterEndMs
      const page = await ctx.store.reserved({ since, limit, ...(cursor && { cursor }) })
      return json(200, { reservations: page.instances.map(reservationView), ...nextPage(page.cursor) })
    },
  },
]

const find = async (ctx: Context, { parameters }: HttpRequest): Promise<Instance> => {
  const id = parameters.id ?? ''
  const instance = /^i-[0-9a-f]{12}$/.test(id) ? await ctx.store.get(id) : undefined
  if (instance) return instance
  throw new BerthError('not_found', `There is no instance ${id.slice(0, 64)}.`)
}

const headersOf = (request: HttpRequest) => ({ 'Idempotency-Key': request.idempotencyKey })

const nextPage = (cursor: string | undefined) => (cursor === undefined ? {} : { cursor })
