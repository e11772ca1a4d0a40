import { createPublicKey, type JsonWebKey } from 'node:crypto'
import * as z from 'zod'

/**
 * The `authorized_keys` line of a private key. Throws when the key can't be read; the message shows nothing of it.
 * ssh2 could read it, too, but weighs more than most functions' own code.
 */
export const publicKeyOf = (privateKey: string): string => {
  try {
    const blob =
      openSshBlob(privateKey) ?? blobOf(createPublicKey(mustBePrivate(privateKey)).export({ format: 'jwk' }))
    const [type] = strings(blob)
    return `${type} ${blob.toString('base64')} berth`
  } catch {
    throw new Error(
      'The SSH private key cannot be read; it must be an OpenSSH or PEM key without a passphrase',
    )
  }
}

/** OpenSSH's own format, which node:crypto does not read. Source: PROTOCOL.key of OpenSSH. */
const openSshBlob = (text: string): Buffer | undefined => {
  const body = /-----BEGIN OPENSSH PRIVATE KEY-----([\sA-Za-z0-9+/=]+)-----END/.exec(text)?.[1]
  if (body === undefined) return undefined
  const bytes = Buffer.from(body, 'base64')
  const magic = 'openssh-key-v1\0'
  if (bytes.toString('latin1', 0, magic.length) !== magic) throw new Error('unknown format')
  const [cipher, kdf, kdfOptions] = strings(bytes.subarray(magic.length), 3)
  // After the three comes the number of keys.
  const rest = bytes.subarray(magic.length + 12 + size(cipher) + size(kdf) + size(kdfOptions))
  const [publicBlob, secrets] = strings(rest.subarray(4), 2)
  if (String(cipher) !== 'none' || rest.readUInt32BE(0) !== 1 || !publicBlob || !secrets) {
    throw new Error('encrypted, or not one key')
  }
  // Written twice, to tell a key that was read rightly; then the secret part begins with the type of the key.
  const [type, , secret] = strings(secrets.subarray(8), 3)
  const twice = secrets.readUInt32BE(0) === secrets.readUInt32BE(4)
  const whole = String(type) !== 'ssh-ed25519' || secret?.length === 64
  if (!twice || !whole || String(type) !== String(strings(publicBlob)[0])) throw new Error('damaged')
  return publicBlob
}

/** The kinds of PEM that ssh2 reads: with another, machines would be rented that nobody can enter. */
const mustBePrivate = (text: string): string => {
  if (!/-----BEGIN (RSA|EC) PRIVATE KEY-----/.test(text)) throw new Error('no private key')
  return text
}

const jwk = z.discriminatedUnion('kty', [
  z.object({ kty: z.literal('RSA'), e: z.string(), n: z.string() }),
  z.object({
    kty: z.literal('EC'),
    crv: z.enum(['P-256', 'P-384', 'P-521']),
    x: z.string(),
    y: z.string(),
  }),
])

/** A public key as SSH sends it. Source: RFC 4253 6.6, RFC 5656 3.1. */
const blobOf = (key: JsonWebKey): Buffer => {
  const read = jwk.parse(key)
  switch (read.kty) {
    case 'RSA':
      return joined(Buffer.from('ssh-rsa'), positive(bytesOf(read.e)), positive(bytesOf(read.n)))
    case 'EC': {
      const curve = `nistp${read.crv.slice(2)}`
      const point = Buffer.concat([Buffer.from([4]), bytesOf(read.x), bytesOf(read.y)])
      return joined(Buffer.from(`ecdsa-sha2-${curve}`), Buffer.from(curve), point)
    }
  }
}

const bytesOf = (base64url: string) => Buffer.from(base64url, 'base64url')

/** A number of SSH is negative when its first bit is set. */
const positive = (number: Buffer) =>
  (number[0] ?? 0) > 127 ? Buffer.concat([Buffer.from([0]), number]) : number

const joined = (...parts: Buffer[]): Buffer =>
  Buffer.concat(
    parts.flatMap((part) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(part.length)
      return [length, part]
    }),
  )

/** The first `most` strings, each behind its length in four bytes. */
const strings = (bytes: Buffer, most = 1): Buffer[] => {
  const found: Buffer[] = []
  for (let at = 0; found.length < most; ) {
    const end = at + 4 + bytes.readUInt32BE(at)
    if (end > bytes.length) throw new Error('cut short')
    found.push(bytes.subarray(at + 4, end))
    at = end
  }
  return found
}

const size = (part: Buffer | undefined) => part?.length ?? 0
