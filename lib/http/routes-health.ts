import type { Route } from './http-handler.ts'
import { json } from './problem.ts'

/** Open to all, so it says nothing of what is rented or of the clouds. */
export const healthRoutes: Route[] = [
  { method: 'GET', path: '/health', open: true, handle: async () => json(200, { status: 'ok' }) },
]
