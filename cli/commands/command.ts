import { Command, Option } from 'commander'
import type { Surroundings, Work } from '../surroundings.ts'

/** What a command is made with. `end` takes its exit code. */
export type Making = Surroundings & { end: (exitCode: number) => void }

export type Loader = () => Promise<Work>

/** A command as the list of all has it. */
export type Named = { name: string; summary: string }

/** Makes the command itself, with all that it takes. */
export type Make = (at: Making, named: Named) => Command

/**
 * A command whose work is loaded when it is called, so that `--help` and completion stay fast. `examples` are lines to
 * type, each with what it does.
 */
export const command = (
  at: Making,
  about: Named & {
    /** More than the summary, for the command's own help. */
    description?: string
    examples: [line: string, does: string][]
    work: Loader
  },
): Command =>
  new Command(about.name)
    .summary(about.summary)
    .description(about.description ?? `${about.summary[0]?.toUpperCase()}${about.summary.slice(1)}.`)
    .addHelpText('after', examplesText(about.examples))
    .action(async (...all: unknown[]) => {
      const called = all.at(-1)
      if (!(called instanceof Command)) throw new Error('commander hands the command over last')
      const work = await about.work()
      await work(at, { arguments: called.args, options: called.opts(), end: at.end })
    })

/** The options of all commands that call the API. */
export const callsApi = (made: Command): Command =>
  printsJson(made)
    .addOption(whereBerthIs('--url <url>', 'address of the API; the key is taken from BERTH_API_KEY'))
    .addOption(whereBerthIs('--data <folder>', 'the folder of npm start (default: .berth, if it is here)'))

export const printsJson = (made: Command): Command =>
  made.optionsGroup('Output:').option('--json', 'print JSON to standard output, and nothing else')

/** What a machine must have, in dstack's syntax, for offers and rentals alike. */
export const describesMachine = (made: Command): Command =>
  made
    .optionsGroup('What the machine must be:')
    .option('--gpu <spec>', 'such as MI300X:192GB:8, amd, H100:80GB..:1..4, 8')
    .option('--cpu <spec>', 'such as 8.., x86:8..16')
    .option('--memory <size>', 'such as 64GB.., 64GB..256GB')
    .option('--disk <size>', 'size of the boot disk, such as 200GB..')

export const spotOptions = (made: Command): Command =>
  made
    .addOption(new Option('--spot', 'only machines that the cloud may take back').conflicts('onDemand'))
    .addOption(new Option('--on-demand', 'only machines that stay'))
    .option('--max-price <dollars>', 'at most so many US dollars an hour, such as 27.12')

/** The SSH keys that a machine lets in while it is held. */
export const sshKeyOptions = (made: Command): Command =>
  made
    .option(
      '--ssh-key <file>',
      'public key that may enter; may be repeated; default: ~/.ssh/id_ed25519.pub or the like',
      repeated,
    )
    .option('--no-ssh-key', 'gives no key, so that nobody may enter')

/** For an option that may be given several times. */
export const repeated = (text: string, before: string[] | undefined): string[] => [...(before ?? []), text]

const whereBerthIs = (flags: string, description: string): Option =>
  new Option(flags, description).helpGroup('Where Berth is (see berth help access):')

const examplesText = (examples: [line: string, does: string][]): string => {
  const width = Math.max(...examples.map(([line]) => line.length))
  return `\nExamples:\n${examples.map(([line, does]) => `  ${line.padEnd(width)}  ${does}`).join('\n')}`
}
