import * as z from 'zod'
import type { Route } from './http-handler.ts'

/** Open to all. The document is large and asked for seldom, so that it is read only then. */
export const openApiRoutes = (document: () => Promise<string>): Route[] => [
  {
    method: 'GET',
    path: '/openapi.json',
    about: {
      operationId: 'getOpenApi',
      tag: 'service',
      summary: 'Get this document',
      description: 'The description of this API, as OpenAPI 3.1 has it. It is the same for everybody.',
      open: true,
      answer: {
        status: 200,
        description: 'This document.',
        schema: z.looseObject({ openapi: z.string() }),
        examples: { start: { openapi: '3.1.0' } },
      },
    },
    handle: async () => ({
      statusCode: 200,
      headers: { 'content-type': 'application/json' },
      body: await document(),
    }),
  },
]
