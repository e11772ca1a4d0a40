import middy from '@middy/core'
import httpRouter, { type Method } from '@middy/http-router'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import type { Context } from '../context.ts'
import { BerthError, messageOf } from '../model/errors.ts'
import type { Documentation } from './documentation.ts'
import { type HttpResponse, problem } from './problem.ts'

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

type HttpEvent = APIGatewayProxyEventV2 & {
  requestContext: { authorizer?: { lambda?: { name?: unknown; role?: unknown } } }
}

/**
 * The one HTTP stack: routes, and every error as problem+json. The context is made by the first request and kept.
 */
export const httpHandler = (context: () => Promise<Context>, routes: Route[]) =>
  middy()
    .use({
      onError: async (request) => {
        if (!(request.error instanceof BerthError)) {
          const ctx = await context()
          ctx.log.error('a request failed', { error: messageOf(request.error), stack: request.error?.stack })
        }
        request.response = problem(request.error)
      },
    })
    .handler(
      httpRouter({
        routes: routes.map(({ method, path, handle }) => ({
          method,
          path,
          handler: async (event: HttpEvent) => {
            if (method !== 'GET') mustBeOperator(event)
            return handle(await context(), requestOf(event))
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

const mustBeOperator = (event: HttpEvent) => {
  if (event.requestContext.authorizer?.lambda?.role === 'operator') return
  throw new BerthError(
    'forbidden',
    'Nothing was done: this API key may only look. Use one with the role operator.',
  )
}

const requestOf = (event: HttpEvent): HttpRequest => ({
  body: event.body,
  isBase64Encoded: event.isBase64Encoded,
  query: event.queryStringParameters ?? {},
  parameters: event.pathParameters ?? {},
  idempotencyKey: event.headers['idempotency-key'],
  caller: String(event.requestContext.authorizer?.lambda?.name ?? ''),
})

const isPath = (pattern: string, path: string): boolean =>
  new RegExp(`^${pattern.replace(/\{[^}]+\}/g, '[^/]+')}$`).test(path)
