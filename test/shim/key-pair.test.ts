import ssh2 from 'ssh2'
import { expect, test } from 'vitest'
import { newKeyPair } from '../../lib/shim/key-pair.ts'
import { publicKeyOf } from '../../lib/shim/public-key.ts'

test('every new key pair can be read and belongs together', () => {
  // About one of 250 that ssh2 makes can't.
  for (let n = 0; n < 1000; n++) {
    const { privateKey, publicKey } = newKeyPair()
    expect(ssh2.utils.parseKey(privateKey)).not.toBeInstanceOf(Error)
    expect(publicKeyOf(privateKey)).toBe(publicKey)
  }
})

test.each(['', 'nonsense', newKeyPair().publicKey])(
  'what is no private key is refused without showing it',
  (text) => {
    expect(() => publicKeyOf(text)).toThrow('The SSH private key cannot be read')
  },
)
