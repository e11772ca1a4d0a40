import { createHash } from 'node:crypto'
import type { Context } from '../context.ts'

/** The form in which a key is kept: its SHA-256, in hexadecimal. Keys are 32 random bytes, so no salt is needed. */
export const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex')

/**
 * Answers an API Gateway authorizer (HTTP API, simple response) for `Authorization: Bearer <key>`. The look-up is by
 * the hash, so that its time says nothing about the key.
 */
export const authorize = async (
  ctx: Pick<Context, 'store'>,
  authorization: string | undefined,
): Promise<{ isAuthorized: boolean; context: { name: string; role: string } }> => {
  const key = /^Bearer ([\x21-\x7e]{16,200})$/i.exec(authorization ?? '')?.[1]
  const known = key === undefined ? undefined : await ctx.store.findApiKey(hashOf(key))
  if (!known) return { isAuthorized: false, context: { name: '', role: '' } }
  return { isAuthorized: true, context: { name: known.name, role: known.role } }
}
