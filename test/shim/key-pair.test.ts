import { generateKeyPairSync } from 'node:crypto'
import ssh2 from 'ssh2'
import { expect, test } from 'vitest'
import { newKeyPair } from '../../lib/shim/key-pair.ts'
import { publicKeyOf } from '../../lib/shim/public-key.ts'

/** As ssh2 reads it, who has to use it. */
const bySsh2 = (privateKey: string): string => {
  const read = ssh2.utils.parseKey(privateKey)
  if (read instanceof Error) throw read
  return `${read.type} ${read.getPublicSSH().toString('base64')} berth`
}

test('every new key pair can be read and belongs together', () => {
  // About one of 250 that ssh2 makes can't.
  for (let n = 0; n < 1000; n++) {
    const { privateKey, publicKey } = newKeyPair()
    expect(ssh2.utils.parseKey(privateKey)).not.toBeInstanceOf(Error)
    expect(publicKeyOf(privateKey)).toBe(publicKey)
    expect(bySsh2(privateKey)).toBe(publicKey)
  }
})

test('a key that ssh2 writes a byte short is refused, as by ssh2 itself', () => {
  const readable = (read: (text: string) => string, text: string) => {
    try {
      return read(text).length > 0
    } catch {
      return false
    }
  }
  for (let n = 0; n < 2000; n++) {
    const { private: text } = ssh2.utils.generateKeyPairSync('ed25519')
    expect(readable(publicKeyOf, text)).toBe(readable(bySsh2, text))
  }
})

test.each([
  ['rsa', { bits: 2048 }],
  ['ecdsa', { bits: 256 }],
  ['ecdsa', { bits: 521 }],
] as const)('an OpenSSH key of type %s %o has the line that ssh2 would write', (type, options) => {
  const made =
    type === 'rsa'
      ? ssh2.utils.generateKeyPairSync(type, options)
      : ssh2.utils.generateKeyPairSync(type, options)
  expect(publicKeyOf(made.private)).toBe(bySsh2(made.private))
})

test('a PEM key has the line that ssh2 would write', () => {
  const pems = [
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }),
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'sec1', format: 'pem' }),
    generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export({ type: 'sec1', format: 'pem' }),
  ].map(String)
  expect(pems.map(publicKeyOf)).toEqual(pems.map(bySsh2))
})

const encrypted = ssh2.utils.generateKeyPairSync('ed25519', {
  passphrase: 'secret',
  cipher: 'aes256-ctr',
  rounds: 1,
}).private
const encryptedPem = String(
  generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey,
)
const publicPem = String(generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }))
/** ssh2 does not read it, so that nobody could enter a machine with it. */
const pkcs8 = String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }))
const cut = newKeyPair().privateKey.replace(/.{120}\n-----END/s, '\n-----END')

test.each(['', 'nonsense', newKeyPair().publicKey, publicPem, encrypted, encryptedPem, pkcs8, cut])(
  'what is no private key that can be used is refused without showing it',
  (text) => {
    expect(() => publicKeyOf(text)).toThrow('The SSH private key cannot be read')
  },
)
