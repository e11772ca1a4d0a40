import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto'

/** PEM, as in the key files of an OCI profile. */
export type KeyPair = { privateKey: string; publicKey: string }

export const newKeyPair = (): KeyPair => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  return keyPairOf(privateKey)
}

export const keyPairOf = (privateKey: string): KeyPair => ({
  privateKey,
  publicKey: createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString(),
})

/** "20:3b:97:13:…", as OCI shows it: MD5 of the public key. */
export const fingerprintOf = (publicKey: string): string => {
  const der = createPublicKey(publicKey).export({ type: 'spki', format: 'der' })
  const hash = createHash('md5').update(der).digest('hex')
  return (hash.match(/../g) ?? []).join(':')
}
