import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { messageOf } from '../lib/model/errors.ts'
import { type ShownInstance, shownInstance } from './answers.ts'
import { openApi } from './api.ts'
import { Failure } from './failure.ts'
import { findInstance } from './find-instance.ts'
import { type HostKey, meetHostKey } from './host-key.ts'
import { printer } from './print.ts'
import type { Surroundings, Work } from './surroundings.ts'

const options = z.object({ identity: z.array(z.string()).default([]), json: z.boolean().default(false) })
const connectMs = 15_000

/** `berth ssh NAME [-- COMMAND]` */
export const ssh: Work = async (at, { arguments: [nameOrId = '', ...command], options: written, end }) => {
  const { identity, json } = options.parse(written)
  const api = openApi(at, written)
  const id = await findInstance(api, nameOrId)
  const { value } = await api.call(shownInstance, 'GET', `/instances/${id}`)
  const target = targetOf(value)
  const hostKey = await checkedHostKey(target)
  if (json) return printer(at).json({ ...target, hostKey: hostKey.line })
  const folder = mkdtempSync(join(tmpdir(), 'berth-ssh-'))
  try {
    const known = join(folder, 'known_hosts')
    // By the instance's id: another machine that gets this address later is another machine.
    writeFileSync(known, `${id} ${hostKey.line}\n`, { mode: 0o600 })
    const args = [
      ...optionsFor({ id, known, type: hostKey.type }),
      ...identity.flatMap((file) => ['-i', file]),
      '-p',
      String(target.port),
      '--',
      `${target.username}@${target.hostname}`,
      ...command,
    ]
    const code = await run(at, args)
    if (code === 255) at.err.write(hintFor(value))
    end(code)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Nothing but the pinned key counts, whatever the user's own configuration says. */
const optionsFor = (pinned: { id: string; known: string; type: string }): string[] =>
  [
    `UserKnownHostsFile=${pinned.known}`,
    'GlobalKnownHostsFile=none',
    `HostKeyAlias=${pinned.id}`,
    `HostKeyAlgorithms=${algorithmsOf(pinned.type)}`,
    'StrictHostKeyChecking=yes',
    'UpdateHostKeys=no',
    // A connection that is shared would be one whose host key was checked by somebody else.
    'ControlPath=none',
  ].flatMap((option) => ['-o', option])

const algorithmsOf = (type: string) => (type === 'ssh-rsa' ? 'rsa-sha2-512,rsa-sha2-256' : type)

type Target = { name: string; hostname: string; port: number; username: string; fingerprint: string }

const targetOf = (it: ShownInstance): Target => {
  const { name, status, phase, hostname, sshPort, sshUsername, hostKeyFingerprint } = it
  if (status === 'terminated') throw new Failure('failed', `${name} has ended; its machine is gone.`)
  if (hostname === null || sshPort === null || sshUsername === null || hostKeyFingerprint === null) {
    throw new Failure('failed', `${name} can not be entered yet: it is ${phase ?? status}.`, [
      `Its host key is pinned when Berth first enters it. See: berth show ${name}`,
    ])
  }
  return { name, hostname, port: sshPort, username: sshUsername, fingerprint: hostKeyFingerprint }
}

const checkedHostKey = async ({ name, hostname, port, fingerprint }: Target): Promise<HostKey> => {
  const met = await meetHostKey({ hostname, port, timeoutMs: connectMs }).catch((error: unknown) => {
    throw new Failure('failed', `${name} does not answer on ${hostname} port ${port}: ${messageOf(error)}.`, [
      `Berth may know more: berth show ${name}`,
    ])
  })
  if (met.fingerprint === fingerprint) return met
  throw new Failure(
    'failed',
    `WARNING: ${name} is not the machine that Berth rented, or somebody is in between.`,
    [
      `It shows the host key  ${met.fingerprint}`,
      `Berth pinned           ${fingerprint}`,
      'No connection was made and nothing was sent. Tell whoever runs this Berth.',
    ],
  )
}

/** The system's ssh, with this terminal. Resolves with its exit code. */
const run = (at: Surroundings, args: string[]): Promise<number> =>
  new Promise((resolve, reject) => {
    // Ctrl-C belongs to the session.
    const taken = at.onInterrupt(() => {})
    const child = spawn('ssh', args, { stdio: 'inherit', env: at.env })
    child.on('error', () => {
      taken()
      reject(
        new Failure('failed', 'There is no "ssh" on this machine. Install an OpenSSH client:', [
          '  apt-get install openssh-client, or dnf install openssh-clients; macOS and Windows bring one',
        ]),
      )
    })
    child.on('exit', (code) => {
      taken()
      resolve(code ?? 255)
    })
  })

const hintFor = ({ name, holder }: ShownInstance): string =>
  `If permission was denied: ${name} lets in the keys that its holder (${holder ?? 'nobody now'}) gave with the rental or the claim. Use one of them with -i FILE, or let in another: berth claim ${name} --ssh-key FILE.pub\n`
