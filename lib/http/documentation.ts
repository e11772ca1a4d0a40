import type * as z from 'zod'
import type { ProblemCode } from '../model/errors.ts'

/**
 * What the API's document says of a route. The schemas are those that the handler parses with. What every route can
 * answer is added by openapi.ts: no key, a key that may not do this, input that is not valid, a fault of ours.
 */
export type Documentation = {
  operationId: string
  tag: keyof typeof tags
  summary: string
  /** What it does, and what that means for money. Markdown. */
  description: string
  /** Anybody may ask, without a key. */
  open?: true
  path?: z.ZodObject
  query?: z.ZodObject
  headers?: z.ZodObject
  body?: { schema: z.ZodType; examples: Record<string, object> }
  answer: {
    status: 200 | 202
    description: string
    schema: z.ZodType
    headers?: z.ZodObject
    examples: Record<string, object>
  }
  /** The codes of problems that are of this route alone. */
  problems?: readonly ProblemCode[]
}

export const tags = {
  offers: 'Machines that can be had, with what they cost.',
  instances: 'Machines that are rented, from the request to the proof that they are gone.',
  fleets: 'Machines that are kept, as a file says.',
  reservations: 'Prepaid time.',
  costs: 'What was spent, and what may be.',
  service: 'The service itself. Open to all.',
} as const
