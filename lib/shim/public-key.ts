import type { ParsedKey } from 'ssh2'
// The package's index would load all of SSH, which takes longer than most functions' work.
import keyParser from 'ssh2/lib/protocol/keyParser.js'

/** The `authorized_keys` line of a private key. Throws when the key can't be read; the message shows nothing of it. */
export const publicKeyOf = (privateKey: string): string => {
  const read = keyParser.parseKey(privateKey)
  if (read instanceof Error || !read.isPrivateKey()) {
    throw new Error(
      'The SSH private key cannot be read; it must be an OpenSSH or PEM key without a passphrase',
    )
  }
  return lineOf(read)
}

export const lineOf = (key: ParsedKey) => `${key.type} ${key.getPublicSSH().toString('base64')} berth`
