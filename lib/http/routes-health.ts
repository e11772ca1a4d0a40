import { type HealthAnswer, healthAnswer } from './answers.ts'
import type { Route } from './http-handler.ts'
import { json } from './problem.ts'

/** Open to all, so it says nothing of what is rented or of the clouds. */
export const healthRoutes: Route[] = [
  {
    method: 'GET',
    path: '/health',
    about: {
      operationId: 'getHealth',
      tag: 'service',
      summary: 'Ask whether the API answers',
      description: 'Says nothing of what is rented or of the clouds.',
      open: true,
      answer: {
        status: 200,
        description: 'It answers.',
        schema: healthAnswer,
        examples: { well: { status: 'ok' } },
      },
    },
    handle: async () => json<HealthAnswer>(200, { status: 'ok' }),
  },
]
