import { execFile } from 'node:child_process'
import type { Finding } from './doctor.ts'
import { publicKeys } from './ssh-keys.ts'
import type { Surroundings } from './surroundings.ts'

/** What this machine has to have. */
export const checkHere = async (at: Surroundings): Promise<Finding[]> => [
  { what: 'Node', state: 'ok', found: process.version },
  await sshClient(at),
  sshKey(at),
]

const sshClient = ({ env }: Surroundings): Promise<Finding> =>
  new Promise((resolve) => {
    execFile('ssh', ['-V'], { env }, (error, _, version) => {
      const what = 'SSH client'
      if (!error) resolve({ what, state: 'ok', found: version.trim().split(',')[0] ?? '' })
      else {
        const found = 'there is none, so berth ssh can open no session'
        resolve({
          what,
          state: 'warning',
          found,
          mend: 'install an OpenSSH client (apt-get install openssh-client)',
        })
      }
    })
  })

const sshKey = (at: Surroundings): Finding => {
  const what = 'SSH key'
  try {
    const { from } = publicKeys(at, undefined)
    if (from[0] !== undefined) return { what, state: 'ok', found: from[0] }
  } catch (error) {
    return { what, state: 'warning', found: error instanceof Error ? error.message : String(error) }
  }
  const found = 'there is none in ~/.ssh, so berth rent has to be given one'
  return { what, state: 'warning', found, mend: 'ssh-keygen -t ed25519' }
}
