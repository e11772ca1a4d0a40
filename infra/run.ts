import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Runs a command in the project, on this terminal. Throws an Error when it does not end well. */
export const run = (command: string, args: string[]): void => {
  const { status, error } = spawnSync(command, args, {
    cwd: join(import.meta.dirname, '..'),
    stdio: 'inherit',
  })
  if (error) throw new Error(`${command} could not be run (${error.message}). Start it by npm run.`)
  if (status !== 0) throw new Error(`${command} ${args[0] ?? ''} failed; what it says stands above.`)
}
