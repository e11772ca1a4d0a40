import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MachineFolder } from './machine-folder.ts'

/**
 * Runs a boot script as cloud-init does: as root, beside everything else, its output in a log. What is no script
 * (it must begin with `#!`) is left alone. It ends with the machine.
 */
export const runUserData = (machine: MachineFolder, script: string, environment: Record<string, string>) => {
  if (!script.startsWith('#!')) return
  const file = join(machine.root, 'var/lib/cloud/instance/user-data')
  const logs = join(machine.root, 'var/log')
  for (const folder of [join(file, '..'), logs]) mkdirSync(folder, { recursive: true })
  writeFileSync(file, script, { mode: 0o700 })
  const log = openSync(join(logs, 'cloud-init-output.log'), 'a')
  const child = spawn('/bin/bash', [file], {
    cwd: machine.root,
    env: environment,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  child.on('error', () => {})
}
