import ssh2 from 'ssh2'
import { publicKeyOf } from './public-key.ts'

/** A new ed25519 key pair in OpenSSH's own format. */
export const newKeyPair = (): { privateKey: string; publicKey: string } => {
  // ssh2 1.17 writes about one key in 250 a byte short, and then can't read it itself: make another.
  for (let attempt = 0; attempt < 20; attempt++) {
    const { private: privateKey } = ssh2.utils.generateKeyPairSync('ed25519', { comment: 'berth' })
    if (ssh2.utils.parseKey(privateKey) instanceof Error) continue
    return { privateKey, publicKey: publicKeyOf(privateKey) }
  }
  throw new Error('An SSH key pair could not be made')
}
