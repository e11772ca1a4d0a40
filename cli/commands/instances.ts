import { type Command, Option } from 'commander'
import { statuses } from '../../lib/model/choices.ts'
import { callsApi, command, type Make, repeated, sshKeyOptions } from './command.ts'

export const psCommand: Make = (at, it) =>
  callsApi(
    command(at, {
      ...it,
      examples: [
        ['berth ps', 'everything that lives'],
        ['berth ps --all', 'and what has ended, newest first'],
        ["berth ps --status idle --json | jq -r '.instances[].name'", 'for programs'],
      ],
      work: async () => (await import('../ps.ts')).ps,
    })
      .addOption(new Option('-a, --all', 'also what has ended').conflicts('status'))
      .addOption(new Option('--status <status>', 'only these').choices(statuses)),
  )

export const showCommand: Make = (at, it) =>
  callsApi(
    named(
      command(at, {
        ...it,
        examples: [['berth show train-1', 'where it stands, what it costs, what happened']],
        work: async () => (await import('../show.ts')).show,
      }),
    ),
  )

export const sshCommand: Make = (at, it) =>
  callsApi(
    named(
      command(at, {
        ...it,
        description:
          'Opens a session by the ssh of this machine, which knows the machine by the host key that Berth pinned. What stands behind -- is run there. With --json the checked address and host key are printed, and nothing is opened.',
        examples: [
          ['berth ssh train-1', 'a session'],
          ['berth ssh train-1 -i ~/.ssh/work', 'with this private key'],
          ['berth ssh train-1 -- nvidia-smi -L', 'one command'],
        ],
        work: async () => (await import('../ssh.ts')).ssh,
      }),
    )
      .argument('[command...]', 'what to run there, behind --')
      .option('-i, --identity <file>', 'private key; may be repeated; default: as ssh says', repeated),
  )

export const claimCommand: Make = (at, it) =>
  callsApi(
    sshKeyOptions(
      named(
        command(at, {
          ...it,
          description:
            'Takes an idle instance, at no new charge, and lets your SSH key in. One that is yours already is held longer, and lets in another key of yours.',
          examples: [
            ['berth claim train-1', 'yours until it shows no activity'],
            ['berth claim train-1 --hold 2h', 'yours for two hours, whatever happens'],
          ],
          work: async () => (await import('../claim.ts')).claim,
        }),
      ).option('--hold <time>', 'keeps the claim so long whatever happens, such as 2h'),
    ),
  )

export const releaseCommand: Make = (at, it) =>
  callsApi(
    named(
      command(at, {
        ...it,
        description:
          'Ends your claim. The machine stays, idle, for the next request that it fits, until its idle duration is over and nothing of it is prepaid any more.',
        examples: [['berth release train-1', 'others may have it']],
        work: async () => (await import('../claim.ts')).release,
      }),
    ),
  )

export const stopCommand: Make = (at, it) =>
  callsApi(
    named(
      command(at, {
        ...it,
        description:
          'Ends your use of an instance at once. Its machine is given back at the end of the time that is prepaid. With --force it is given back now; what is forfeited by that is said first.',
        examples: [
          ['berth stop train-1', 'given back when nothing prepaid is left'],
          ['berth stop train-1 --force', 'given back now; asks first'],
        ],
        work: async () => (await import('../stop.ts')).stop,
      }),
    )
      .option('--force', 'give it back now, though time is prepaid')
      .option('-y, --yes', 'do not ask'),
  )

export const reservationsCommand: Make = (at, it) =>
  callsApi(
    command(at, {
      ...it,
      examples: [['berth reservations', 'of now and of the last month']],
      work: async () => (await import('../reservations.ts')).reservations,
    }),
  )

const named = (made: Command): Command => made.argument('<name>', 'name or id of the instance')
