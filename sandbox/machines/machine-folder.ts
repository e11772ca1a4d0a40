import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { newKeyPair } from '../../lib/shim/key-pair.ts'
import type { MachineSpec } from './machine-host.ts'
import { standIns } from './stand-ins.ts'

const trouble = z.array(z.enum(['refuse', 'hang', 'reject_key']))

const remembered = z.object({ port: z.int().optional(), trouble: trouble.optional() })
type Remembered = z.infer<typeof remembered>

export type MachineFolder = ReturnType<typeof openMachineFolder>

/**
 * The folder that is one machine. `root` stands for its file system, `home` for its user's home, `bin` holds the
 * stand-ins that are first on PATH, `state` what those know of the machine.
 */
export const openMachineFolder = (folder: string) => {
  const at = (...parts: string[]) => join(folder, ...parts)
  const record = at('machine.json')
  const recall = (): Remembered =>
    existsSync(record) ? remembered.parse(JSON.parse(readFileSync(record, 'utf8'))) : {}
  return {
    folder,
    root: at('root'),
    home: at('home'),
    bin: at('bin'),
    at,
    recall,
    remember: (change: Remembered) => writeFileSync(record, JSON.stringify({ ...recall(), ...change })),
    /** Puts a state file in place; without content it goes. */
    setState: (name: string, content: string | undefined) => {
      if (content === undefined) rmSync(at('state', name), { force: true })
      else writeFileSync(at('state', name), content)
    },
    hostKey: () => readFileSync(at('host_key'), 'utf8'),
    wipe: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Makes the folder what a machine is at power-on: the disk as it was, or the image; memory file systems empty. */
export const powerOnFolder = (machine: MachineFolder, spec: MachineSpec, init: 'systemd' | 'none') => {
  const { at, root, home, bin } = machine
  for (const folder of ['run', 'dev/shm', 'proc']) {
    rmSync(join(root, folder), { recursive: true, force: true })
    mkdirSync(join(root, folder), { recursive: true })
  }
  for (const folder of [bin, at('state'), join(root, 'etc'), join(root, 'opt')]) {
    mkdirSync(folder, { recursive: true })
  }
  if (init === 'systemd') mkdirSync(join(root, 'run/systemd/system'), { recursive: true })
  if (!existsSync(home)) {
    mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 })
    const keys = spec.authorizedKeys.map((key) => `${key.trim()}\n`).join('')
    writeFileSync(join(home, '.ssh/authorized_keys'), keys, { mode: 0o600 })
  }
  if (!existsSync(at('host_key'))) writeFileSync(at('host_key'), newKeyPair().privateKey, { mode: 0o600 })
  for (const [name, text] of Object.entries(standIns(spec.hardware)))
    writeFileSync(join(bin, name), text, { mode: 0o755 })
  writeFileSync(
    join(root, 'proc/meminfo'),
    `MemTotal:       ${spec.hardware.memoryKib} kB\nMemFree: 1024 kB\n`,
  )
  const mounts = ['/', ...spec.hardware.localDisks].map(
    (path, n) => `/dev/disk${n} ${path} ext4 rw,relatime 0 0\n`,
  )
  writeFileSync(join(root, 'proc/mounts'), mounts.join(''))
}
