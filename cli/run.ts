import { CommanderError } from 'commander'
import { exitCodes, Failure } from './failure.ts'
import { berthProgram } from './program.ts'
import type { Surroundings } from './surroundings.ts'

/** Runs one command, such as `['ps', '--all']`, and tells its exit code. Never throws. */
export const runBerth = async (at: Surroundings, words: string[]): Promise<number> => {
  const ended: { code: number } = { code: exitCodes.done }
  const isCompletion = words[0] === 'complete'
  try {
    const isMeant = (name: string) => isCompletion || words.includes(name)
    const program = await berthProgram(at, isMeant, (code) => {
      ended.code = code
    })
    if (isCompletion) {
      const { complete } = await import('./complete.ts')
      await complete(at, program, words.slice(1))
    } else await program.parseAsync(words, { from: 'user' })
    return ended.code
  } catch (error) {
    tell(at, error)
    return exitCodeOf(error)
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
