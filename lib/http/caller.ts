import * as z from 'zod'
import { BerthError } from '../model/errors.ts'
import { keyRole } from './new-api-key.ts'

/** Who asks: the API key's name and role. */
export type Caller = z.infer<typeof caller>
const caller = z.object({ name: z.string().min(1), role: keyRole })

/**
 * Reads from an event what the authorizer said of its key. Throws BerthError unauthorized where it said nothing, or
 * that the key is none: so a route that nobody guards lets nobody in.
 */
export const callerOf = (event: { requestContext: { authorizer?: { lambda?: unknown } } }): Caller => {
  const known = caller.safeParse(event.requestContext.authorizer?.lambda)
  if (known.success) return known.data
  throw new BerthError(
    'unauthorized',
    'Nothing was done. Send "Authorization: Bearer <key>" with an API key that is neither wrong, expired nor revoked.',
  )
}

/** Throws BerthError forbidden for a key that may only look. */
export const mustBeOperator = ({ role }: Caller): void => {
  if (role === 'operator') return
  throw new BerthError(
    'forbidden',
    'Nothing was done: this API key may only look. Use one with the role operator.',
  )
}
