import { createHash, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto'
import type { CloudRequest } from '../gateway.ts'

/**
 * The key id of a request, where its signature is right by the public key (PEM) that `keyOf` knows for it.
 * The scheme is draft-cavage-http-signatures as OCI has it: RSA with SHA-256 over the date, the target and the host,
 * and over length, type and digest of what is sent. `now` is the real clock's: clients sign with theirs.
 */
export const signerOf = <Signer extends { publicKey: string }>(
  request: CloudRequest,
  keyOf: (keyId: string) => Signer | undefined,
  now: number,
): Signer | undefined => {
  const signature = parse(headerOf(request, 'authorization') ?? '')
  if (!signature) return undefined
  const { names } = signature
  const date = names.includes('x-date') ? 'x-date' : 'date'
  const needed = ['(request-target)', 'host', date, ...(hasBody(request) ? ofBody : [])]
  if (!needed.every((name) => names.includes(name))) return undefined
  if (!(Math.abs(Date.parse(headerOf(request, date) ?? '') - now) <= allowedSkewMs)) return undefined
  if (hasBody(request) && !isBodyAsSigned(request)) return undefined

  const signer = keyOf(signature.keyId)
  const lines = names.map((name) => lineOf(request, name))
  if (!signer || lines.includes(undefined)) return undefined
  const signed = Buffer.from(lines.join('\n'))
  return verify('RSA-SHA256', signed, keyOfPem(signer.publicKey), signature.bytes) ? signer : undefined
}

/** Reading a key takes longer than checking a signature with it. */
const keysOfPem = new Map<string, KeyObject>()
const keyOfPem = (pem: string): KeyObject => {
  const key = keysOfPem.get(pem) ?? createPublicKey(pem)
  keysOfPem.set(pem, key)
  return key
}

const allowedSkewMs = 5 * 60_000

const ofBody = ['content-length', 'content-type', 'x-content-sha256']

const hasBody = ({ method }: CloudRequest) => ['POST', 'PUT', 'PATCH'].includes(method)

/** `Signature version="1",keyId="…",algorithm="rsa-sha256",headers="date …",signature="…"`, in any order. */
const parse = (authorization: string) => {
  const [, text] = /^Signature\s+(.+)$/.exec(authorization) ?? []
  const fields = new Map(
    [...(text ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  )
  const [keyId, signature] = [fields.get('keyId'), fields.get('signature')]
  if (fields.get('version') !== '1' || fields.get('algorithm') !== 'rsa-sha256') return undefined
  if (keyId === undefined || signature === undefined) return undefined
  return {
    keyId,
    names: (fields.get('headers') ?? 'date').toLowerCase().split(' '),
    bytes: Buffer.from(signature, 'base64'),
  }
}

const lineOf = (request: CloudRequest, name: string): string | undefined => {
  if (name === '(request-target)') return `${name}: ${request.method.toLowerCase()} ${request.path}`
  const value = headerOf(request, name)
  return value === undefined ? undefined : `${name}: ${value}`
}

const headerOf = ({ headers }: CloudRequest, name: string): string | undefined => {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

const isBodyAsSigned = (request: CloudRequest): boolean => {
  const digest = createHash('sha256').update(request.body).digest()
  const signed = Buffer.from(headerOf(request, 'x-content-sha256') ?? '', 'base64')
  return (
    headerOf(request, 'content-length') === String(request.body.length) &&
    signed.length === digest.length &&
    timingSafeEqual(signed, digest)
  )
}
