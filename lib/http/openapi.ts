import * as z from 'zod'
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiResponseObject } from 'zod-openapi'
import { type ProblemCode, problems } from '../model/errors.ts'
import { gatewayAnswer, problemAnswer } from './answers.ts'
import { type Documentation, tags } from './documentation.ts'
import type { Route } from './http-handler.ts'

/** The API as OpenAPI 3.1, made from what stands beside the handlers. */
export const openApi = (routes: Route[], version: string) => {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {}
  for (const { method, path, about } of routes) {
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(method, about) }
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Berth',
      version,
      description,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'Where this document lies.' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'A key that `berth keys create` has made.' },
      },
      schemas: { Problem: problemAnswer },
    },
  })
}

const description = `Rents GPU machines on OCI and Hot Aisle, at most one paid machine per request, and gives them back when they are idle and free to go.

Money is in US dollars, times are UTC, sizes are GB of 2^30 bytes. Every error of Berth is \`application/problem+json\` (RFC 9457) with a stable \`code\`. A path that is not here answers 404 \`not_found\`, a method that is not here 405 \`method_not_allowed\`, both without anything done; on AWS the gateway answers both with 404 and a message of its own, before Berth is asked.`

const operationOf = (method: string, about: Documentation): ZodOpenApiOperationObject => {
  const { operationId, tag, summary, description, open, path, query, headers, body, answer } = about
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    ...(open && { security: [] }),
    requestParams: { ...(path && { path }), ...(query && { query }), ...(headers && { header: headers }) },
    ...(body && {
      requestBody: {
        required: false,
        content: { 'application/json': { schema: body.schema, examples: valuesOf(body.examples) } },
      },
    }),
    responses: {
      [answer.status]: {
        description: answer.description,
        ...(answer.headers && { headers: answer.headers }),
        content: { 'application/json': { schema: answer.schema, examples: valuesOf(answer.examples) } },
      },
      ...gatewayResponses,
      ...problemResponses(problemsOf(method, about)),
    },
  }
}

const valuesOf = (examples: Record<string, object>) =>
  Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]))

const problemsOf = (method: string, about: Documentation): ProblemCode[] => [
  ...(about.query || about.headers || about.body ? (['invalid_request'] as const) : []),
  ...(about.open ? [] : (['unauthorized', 'too_many_requests'] as const)),
  ...(method === 'GET' ? [] : (['forbidden'] as const)),
  ...(about.body ? (['too_large'] as const) : []),
  ...(about.problems ?? []),
  'invalid_settings',
  'internal',
]

/** One response for each status; it says which of the codes can come. */
const problemResponses = (codes: ProblemCode[]): Record<string, ZodOpenApiResponseObject> => {
  const statuses = [...new Set(codes.map((code) => problems[code].status))]
  return Object.fromEntries(
    statuses.map((status) => {
      const own = codes.filter((code) => problems[code].status === status)
      const response: ZodOpenApiResponseObject = {
        description: own.map((code) => `\`${code}\`: ${problems[code].title}.`).join(' '),
        ...(status === 401 && { headers: challenge }),
        ...(status === 429 && { headers: pause }),
        content: {
          ...((status === 401 || status === 429) && byGateway),
          'application/problem+json': {
            schema: {
              allOf: [
                { $ref: '#/components/schemas/Problem' },
                { properties: { status: { const: status }, code: { enum: own } } },
              ],
            },
          },
        },
      }
      return [status, response]
    }),
  )
}

const challenge = z.object({ 'www-authenticate': z.literal('Bearer') })

const pause = z.object({
  'retry-after': z.string().regex(/^\d+$/).meta({ description: 'Seconds.' }).optional(),
})

/** Where it is API Gateway that refuses: no key at all, or too many requests of all callers together. */
const byGateway = { 'application/json': { schema: gatewayAnswer } }

/** Before a function is called; these are API Gateway's own, and no problem+json. */
const gatewayResponses: Record<string, ZodOpenApiResponseObject> = {
  429: {
    description: 'Too many requests at once. Nothing was done: wait a moment and send it again.',
    content: byGateway,
  },
  431: {
    description: 'The path with its query and the headers are too long. Nothing was done.',
    content: byGateway,
  },
  503: {
    description:
      'No answer in time. What was asked for may or may not have been done: look, or send the same request with the same `Idempotency-Key` again.',
    content: byGateway,
  },
}
