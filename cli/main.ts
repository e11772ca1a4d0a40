import { homedir } from 'node:os'
import { runBerth } from './run.ts'

/** Runs the command that the process was started with, and sets its exit code. */
export const main = async (): Promise<void> => {
  // A reader that has seen enough, such as `head`, is no error.
  process.stdout.on('error', (error) => process.exit('code' in error && error.code === 'EPIPE' ? 0 : 1))
  process.exitCode = await runBerth(
    {
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
      endNow: (exitCode) => process.exit(exitCode),
    },
    process.argv.slice(2),
  )
}
