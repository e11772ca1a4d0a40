import ssh2 from 'ssh2'
import { fingerprintOf, hostKeyOrder } from '../lib/shim/ssh.ts'

export type HostKey = {
  /** As `ssh-keygen -lf` prints it: `SHA256:...` */
  fingerprint: string
  /** `ssh-ed25519 AAAA...`, as a known_hosts file takes it. */
  line: string
  type: string
}

/**
 * The host key that a machine shows, by the same order of kinds by which Berth pinned it. Nobody is logged in.
 * Throws when nothing answers within `timeoutMs`.
 */
export const meetHostKey = (machine: {
  hostname: string
  port: number
  timeoutMs: number
}): Promise<HostKey> =>
  new Promise((resolve, reject) => {
    const client = new ssh2.Client()
    let met = false
    client.on('error', (error) => {
      if (!met) reject(error)
    })
    client.connect({
      host: machine.hostname,
      port: machine.port,
      username: 'nobody',
      readyTimeout: machine.timeoutMs,
      algorithms: { serverHostKey: hostKeyOrder },
      hostVerifier: (blob: Buffer) => {
        met = true
        const type = blob.toString('latin1', 4, 4 + blob.readUInt32BE(0))
        resolve({ fingerprint: fingerprintOf(blob), line: `${type} ${blob.toString('base64')}`, type })
        setImmediate(() => client.destroy())
        return false
      },
    })
  })
