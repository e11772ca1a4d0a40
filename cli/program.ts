import { Command } from 'commander'
import { commandGroups, listedCommand } from './commands/list.ts'
import { topics } from './commands/topics.ts'
import type { Output, Surroundings } from './surroundings.ts'

/**
 * The commands of `berth`: those among the words with all that they take, the others as the list of all needs them. The
 * work of each is loaded when it is called.
 */
export const berthProgram = async (
  surroundings: Surroundings,
  isMeant: (name: string) => boolean,
  end: (exitCode: number) => void,
): Promise<Command> => {
  const at = { ...surroundings, end }
  const program = new Command('berth')
    .usage('<command> [options]')
    .description(
      'Rents GPU machines on OCI and Hot Aisle, at most one for each request, and gives them back.',
    )
    .helpCommand('help [command]', 'help for a command, or for: access, exit-codes')
  for (const { heading, entries } of commandGroups) {
    program.commandsGroup(heading)
    for (const entry of entries)
      program.addCommand(isMeant(entry.name) ? (await entry.load())(at, entry) : listedCommand(entry))
  }
  for (const topic of topics()) program.addCommand(topic, { hidden: true })
  for (const each of withBelow(program)) {
    each
      .exitOverride()
      .showHelpAfterError(rightUsage(each))
      .configureOutput({
        writeOut: (text) => void at.out.write(text),
        writeErr: (text) => void at.err.write(text),
        getOutHelpWidth: () => widthOf(at.out),
        getErrHelpWidth: () => widthOf(at.err),
      })
    if (each.commands.length > 0) each.configureHelp(namesAlone)
  }
  return program
}

/** A list of commands says what each is for; what it takes is in its own help. */
const namesAlone = {
  subcommandTerm: (each: Command) =>
    [each.name(), ...each.registeredArguments.map((one) => `<${one.name()}>`)].join(' '),
}

const withBelow = (top: Command): Command[] => [top, ...top.commands.flatMap(withBelow)]

const width = 100

const widthOf = ({ columns = width }: Output) => Math.min(columns, width)

/** All that a command takes, on a few lines: what is shown below an error. */
const rightUsage = (wrong: Command): string => {
  const path = pathOf(wrong)
  const parts =
    wrong.commands.length > 0
      ? wrong.commands
          .filter((each) => !isHidden(wrong, each))
          .map((each, index) => (index === 0 ? each.name() : `| ${each.name()}`))
      : [
          ...wrong.registeredArguments.map((each) =>
            each.required ? `<${each.name()}>` : `[${each.name()}]`,
          ),
          ...wrong.options.map(({ flags, mandatory }) => (mandatory ? flags : `[${flags}]`)),
        ]
  const lines = [`Usage: ${path}`]
  for (const part of parts) {
    const line = `${lines.at(-1)} ${part}`
    if (line.length > width) lines.push(`      ${part}`)
    else lines.splice(-1, 1, line)
  }
  return `${lines.join('\n')}\nSee: ${path} --help`
}

const pathOf = (each: Command): string =>
  each.parent ? `${pathOf(each.parent)} ${each.name()}` : each.name()

const isHidden = (parent: Command, each: Command): boolean =>
  !parent.createHelp().visibleCommands(parent).includes(each)
