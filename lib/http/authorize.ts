import { createHash } from 'node:crypto'
import type { Context } from '../context.ts'
import type { ApiKey } from '../store/store.ts'

/**
 * What API Gateway takes of an authorizer (HTTP API, simple response), and hands on with the request. Everybody passes,
 * and who has no name is refused by the function (caller.ts): refused here, a wrong key would get 403, with no word of
 * what to do. Answers are kept by API Gateway for each value of the header.
 */
export type Access = { isAuthorized: true; context: { name: string; role: string } }

/** How long a key that was removed may go on being good. */
const rememberedMs = 60_000

/** The form in which a key is kept: its SHA-256, in hexadecimal. Keys are 32 random bytes, so no salt is needed. */
export const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex')

/**
 * Says who `Authorization: Bearer <key>` is. Keys are looked up by their hash, here and in the table, and nothing is
 * compared with a key, so that the time it takes says nothing about one. Good keys are remembered for a minute; others
 * are not, so that a new key works at once and guesses fill no memory.
 */
export const createAuthorizer = (ctx: Pick<Context, 'store' | 'clock'>) => {
  const remembered = new Map<string, { key: ApiKey; readAt: number }>()

  const find = async (hash: string): Promise<ApiKey | undefined> => {
    const readAt = ctx.clock.now()
    const known = remembered.get(hash)
    if (known && readAt >= known.readAt && readAt < known.readAt + rememberedMs) return known.key
    remembered.delete(hash)
    const key = await ctx.store.findApiKey(hash)
    if (key) remembered.set(hash, { key, readAt })
    return key
  }

  return async (authorization: string | undefined): Promise<Access> => {
    const sent = /^Bearer ([\x21-\x7e]{16,200})$/i.exec(authorization ?? '')?.[1]
    const key = sent === undefined ? undefined : await find(hashOf(sent))
    if (!key || ctx.clock.now() >= (key.expiresAt ?? Number.POSITIVE_INFINITY)) return nobody()
    return { isAuthorized: true, context: { name: key.name, role: key.role } }
  }
}

/** The same for keys that are wrong, expired, revoked or missing. */
const nobody = (): Access => ({ isAuthorized: true, context: { name: '', role: '' } })
