import { Failure } from './failure.ts'
import type { Surroundings } from './surroundings.ts'

/**
 * Asks before something that costs money. Throws a Failure where the answer is no, and where nobody can be asked.
 * `nothing` says what has not been done.
 */
export const askFirst = async (at: Surroundings, question: string, nothing: string): Promise<void> => {
  mustBeAsked(at, nothing)
  const { default: confirm } = await import('@inquirer/confirm')
  // Questions stay out of what programs read.
  const yes = await confirm({ message: question, default: false }, { input: at.in, output: at.err }).catch(
    () => false,
  )
  if (!yes) throw new Failure('interrupted', nothing)
}

/** Throws a Failure where nobody can be asked, so that nothing is looked up in vain. */
export const mustBeAsked = ({ in: input, err }: Surroundings, nothing: string): void => {
  if (input.isTTY && err.isTTY) return
  throw new Failure(
    'wrongUsage',
    `${nothing} There is nobody here to ask; add -y to go ahead without a question.`,
  )
}
