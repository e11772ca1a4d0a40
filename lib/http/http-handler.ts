import middy from '@middy/core'
import httpRouter, { type Method } from '@middy/http-router'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import type { Context } from '../context.ts'
import { BerthError, messageOf } from '../model/errors.ts'
import { type Caller, callerOf, mustBeOperator } from './caller.ts'
import type { Documentation } from './documentation.ts'
import { type HttpResponse, problem } from './problem.ts'
import { createRequestLimit } from './request-limit.ts'

/** One route: `path` in API Gateway's form, `/instances/{id}`. */
export type Route = {
  method: Method
  path: `/${string}`
  about: Documentation
  handle: (ctx: Context, request: HttpRequest) => Promise<HttpResponse>
}

export type HttpRequest = {
  body: string | undefined
  isBase64Encoded: boolean
  query: Record<string, string | undefined>
  parameters: Record<string, string | undefined>
  idempotencyKey: string | undefined
  /** Name of the API key that the authorizer let in. */
  caller: string
}

type HttpEvent = APIGatewayProxyEventV2 & { requestContext: { authorizer?: { lambda?: unknown } } }

/**
 * The one HTTP stack: who asks, how often, routes, and every error as problem+json. The context is made by the first
 * request and kept.
 */
export const httpHandler = (context: () => Promise<Context>, routes: Route[]) => {
  let mayAsk: ReturnType<typeof createRequestLimit> | undefined
  /** Absent while it cannot be made, which whoever makes it tells the log. */
  let known: Context | undefined
  const begun = async (): Promise<Context> => {
    known = await context()
    return known
  }

  return middy<HttpEvent, HttpResponse>()
    .use({
      before: async ({ event }) => {
        if (routes.some(({ about, path }) => about.open && path === event.rawPath)) return
        const { name } = callerOf(event)
        const { settings, clock } = await begun()
        mayAsk ??= createRequestLimit(settings.api.requests_per_second, clock)
        mayAsk(name)
      },
      onError: async (request) => {
        if (!(request.error instanceof BerthError)) {
          known?.log.error('a request failed', {
            error: messageOf(request.error),
            stack: request.error?.stack,
          })
        }
        request.response = problem(request.error)
      },
    })
    .handler(
      httpRouter({
        routes: routes.map(({ method, path, about, handle }) => ({
          method,
          path,
          handler: async (event: HttpEvent) => {
            const caller = about.open ? nobody : callerOf(event)
            if (method !== 'GET') mustBeOperator(caller)
            return handle(await begun(), requestOf(event, caller))
          },
        })),
        notFoundResponse: ({ method, path }) => {
          const known = routes.filter((route) => isPath(route.path, path))
          if (known.length === 0) throw new BerthError('not_found', `There is nothing at ${path}.`)
          const allow = known.map((route) => route.method).join(', ')
          const { headers, ...refused } = problem(
            new BerthError('method_not_allowed', `${method} is not known for ${path}.`),
          )
          return { ...refused, headers: { ...headers, allow } }
        },
      }),
    )
}

const nobody: Caller = { name: '', role: 'viewer' }

const requestOf = (event: HttpEvent, { name }: Caller): HttpRequest => ({
  body: event.body,
  isBase64Encoded: event.isBase64Encoded,
  query: event.queryStringParameters ?? {},
  parameters: event.pathParameters ?? {},
  idempotencyKey: event.headers['idempotency-key'],
  caller: name,
})

const isPath = (pattern: string, path: string): boolean =>
  new RegExp(`^${pattern.replace(/\{[^}]+\}/g, '[^/]+')}$`).test(path)
