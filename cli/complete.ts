import shells from '@bomb.sh/tab'
import suggestionsOf from '@bomb.sh/tab/commander'
import type { Command } from 'commander'
import { openApi } from './api.ts'
import { listInstances } from './find-instance.ts'
import type { Surroundings, Work } from './surroundings.ts'

/** `berth completion SHELL`: a script for the shell, which calls `berth complete` at each tab. */
export const completion: Work = async ({ out }, { arguments: [shell = ''] }) => {
  const isBash = shell === 'bash'
  if (isBash) out.write(withoutBashCompletion)
  shells.setup('berth', 'berth', shell)
  // Where nothing is suggested, as for a file, bash completes by itself.
  if (isBash) out.write('complete -o default -F __berth_complete berth\n')
}

/** The script stands on a function of the package bash-completion, which is not on every machine. */
const withoutBashCompletion = `declare -F _get_comp_words_by_ref >/dev/null || _get_comp_words_by_ref() {
    words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD
    cur=\${COMP_WORDS[COMP_CWORD]}; prev=\${COMP_WORDS[COMP_CWORD-1]}
}
`

/** What the words so far may go on with; the last of `typed` is the one that is being written. */
export const complete = async (at: Surroundings, program: Command, typed: string[]): Promise<void> => {
  const words = typed[0] === '--' ? typed.slice(1) : typed
  const called = program.commands.find((each) => each.name() === words[0])
  const before = words.at(-2)
  const option = called?.options.find(({ short, long }) => before === short || before === long)
  if (option && /<(file|folder)>/.test(option.flags)) {
    // Files are the shell's own matter.
    at.out.write(':0\n')
    return
  }
  shorten(program)
  // It brings a command of its own for its script.
  const root = suggestionsOf(program, { completionCommandName: 'script' })
  root.commands.delete('script')
  if (called && called.registeredArguments[0]?.name() === 'name') {
    const names = await namesOf(at, words)
    const command = root.commands.get(called.name())
    command?.argument('name', (add) => {
      for (const { name, about } of names) add(name, about)
    })
  }
  root.parse(words)
}

/** One line of a list has room for a summary. */
const shorten = (top: Command) => {
  for (const each of top.commands) {
    each.description(each.summary() || each.description())
    shorten(each)
  }
}

const patienceMs = 1500

/** A shell that waits for a tab is not told of errors. */
const namesOf = async (at: Surroundings, words: string[]) => {
  const placeOf = (flag: string) => words[words.indexOf(flag) + 1]
  const options = {
    ...(words.includes('--url') && { url: placeOf('--url') }),
    ...(words.includes('--data') && { data: placeOf('--data') }),
  }
  try {
    const api = openApi(
      {
        ...at,
        fetch: (input, init) => at.fetch(input, { ...init, signal: AbortSignal.timeout(patienceMs) }),
      },
      options,
    )
    const { instances } = await listInstances(api, undefined, 1)
    return instances.map(({ name, status, instanceType }) => ({
      name,
      about: `${status}, ${instanceType ?? 'no machine yet'}`,
    }))
  } catch {
    return []
  }
}
