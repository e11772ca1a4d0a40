import { Command } from 'commander'
import { fleetCommands } from './commands/fleets.ts'
import { instanceCommands } from './commands/instances.ts'
import { keysCommand } from './commands/keys.ts'
import { offerCommand } from './commands/offers.ts'
import { rentCommand } from './commands/rent.ts'
import { completionCommand, costCommand, doctorCommand } from './commands/setup.ts'
import { topics } from './commands/topics.ts'
import type { Output, Surroundings } from './surroundings.ts'

/** Every command of `berth`, with what it takes. The work of each is loaded when it is called. */
export const berthProgram = (surroundings: Surroundings, end: (exitCode: number) => void): Command => {
  const at = { ...surroundings, end }
  const program = new Command('berth')
    .usage('<command> [options]')
    .description(
      'Rents GPU machines on OCI and Hot Aisle, at most one for each request, and gives them back.',
    )
    .helpCommand('help [command]', 'help for a command, or for: access, exit-codes')
  const groups: [heading: string, commands: Command[]][] = [
    ['Machines:', [offerCommand(at), rentCommand(at), ...instanceCommands(at)]],
    ['Fleets:', fleetCommands(at)],
    ['This Berth:', [costCommand(at), doctorCommand(at), keysCommand(at), completionCommand(at)]],
  ]
  for (const [heading, commands] of groups) {
    program.commandsGroup(heading)
    for (const each of commands) program.addCommand(each)
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
