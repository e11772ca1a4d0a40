import { homedir } from 'node:os'
import { CommanderError } from 'commander'
import { exitCodes, Failure } from './failure.ts'
import { berthProgram } from './program.ts'
import type { Surroundings } from './surroundings.ts'

/** Runs the command that the process was started with, and sets its exit code. */
export const main = async (): Promise<void> => {
  const at: Surroundings = {
    out: process.stdout,
    err: process.stderr,
    in: process.stdin,
    env: process.env,
    folder: process.cwd(),
    home: homedir(),
    now: () => Date.now(),
    fetch,
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    onInterrupt: (callback) => {
      process.on('SIGINT', callback)
      return () => void process.off('SIGINT', callback)
    },
  }
  // A reader that has seen enough, such as `head`, is no error.
  process.stdout.on('error', (error) => process.exit('code' in error && error.code === 'EPIPE' ? 0 : 1))
  try {
    if (process.argv[2] === 'complete') {
      const { complete } = await import('./complete.ts')
      // Completion brings a command of its own for its script.
      await complete(at, berthProgram(at, { withCompletion: false }), process.argv.slice(3))
    } else await berthProgram(at).parseAsync()
  } catch (error) {
    process.exitCode = exitCodeOf(error)
    tell(at, error)
  }
}

const exitCodeOf = (error: unknown): number => {
  if (error instanceof Failure) return exitCodes[error.kind]
  // Help that was asked for is no failure; whatever else commander ends with is.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUsage
  return exitCodes.failed
}

const tell = ({ err }: Surroundings, error: unknown) => {
  if (error instanceof CommanderError) return
  const message = error instanceof Error ? error.message : String(error)
  const more = error instanceof Failure ? error.more : []
  for (const line of [message, ...more]) err.write(`${line}\n`)
}
