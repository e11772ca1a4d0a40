import { Argument } from 'commander'
import { callsApi, command, type Make } from './command.ts'

export const costCommand: Make = (at, it) =>
  callsApi(
    command(at, {
      ...it,
      examples: [
        ['berth cost', 'of this month, so far'],
        ['berth cost --month 2026-11', 'of November'],
        ["berth cost --json | jq '.byKey'", 'for programs'],
      ],
      work: async () => (await import('../cost.ts')).cost,
    }).option('--month <month>', 'a month of UTC, such as 2026-11; default: this one'),
  )

export const doctorCommand: Make = (at, it) =>
  callsApi(
    command(at, {
      ...it,
      description:
        'Looks at this machine, the API, the key, the clock, and what each cloud says of credentials, quotas and regions. With --config it reads a settings file and asks its clouds from here as well. Nothing is rented or changed.',
      examples: [
        ['berth doctor', 'the Berth that is used from here'],
        ['berth doctor --config berth.yml', 'settings before they are deployed'],
      ],
      work: async () => (await import('../doctor.ts')).doctor,
    }).option('--config <file>', 'a berth.yml to check, with its credentials'),
  )

export const completionCommand: Make = (at, it) =>
  command(at, {
    ...it,
    description:
      'Prints a script that lets a shell complete commands, options, their values and the names of instances. The shell has to find berth on PATH: "npm link" in the repository puts it there.',
    examples: [
      ['source <(berth completion bash)', 'in ~/.bashrc'],
      ['source <(berth completion zsh)', 'in ~/.zshrc, behind compinit'],
      ['berth completion fish > ~/.config/fish/completions/berth.fish', 'once'],
    ],
    work: async () => (await import('../complete.ts')).completion,
  }).addArgument(new Argument('<shell>', 'your shell').choices(['bash', 'zsh', 'fish']))
