import { createHmac } from 'node:crypto'
import * as z from 'zod'

/** What a session token says of itself: who, which session, and until when, in seconds since 1970. */
const claims = z.object({
  sub: z.string(),
  tenant: z.string(),
  sid: z.string(),
  iat: z.int(),
  exp: z.int(),
})
export type Claims = z.infer<typeof claims>

/** A token in the form of a JWT, signed by the cloud alone. */
export const writeToken = (content: Claims, secret: string): string => {
  const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(content)}`
  return `${text}.${signOf(text, secret)}`
}

/** What the token says, expired or not; undefined where it is none of ours. */
export const readToken = (token: string, secret: string): Claims | undefined => {
  const [head, body = '', signature, ...rest] = token.split('.')
  if (rest.length > 0 || signOf(`${head}.${body}`, secret) !== signature) return undefined
  return claims.parse(JSON.parse(Buffer.from(body, 'base64url').toString('utf8')))
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

const signOf = (text: string, secret: string) => createHmac('sha256', secret).update(text).digest('base64url')
