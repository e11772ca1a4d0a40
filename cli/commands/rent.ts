import { InvalidArgumentError, Option } from 'commander'
import { backendTypes, hardwareChecks } from '../../lib/model/choices.ts'
import { callsApi, command, describesMachine, type Make, spotOptions, sshKeyOptions } from './command.ts'

export const rentCommand: Make = (at, it) => {
  const made = command(at, {
    ...it,
    description:
      'Rents at most one machine, or takes an idle one that fits. Shows the price, the minimum and what is prepaid, and asks; then follows it until it is ready. Ctrl-C stops watching; the rental goes on.',
    examples: [
      ['berth rent --gpu MI300X:8', 'shows what it costs, and asks'],
      [
        'berth rent --gpu H100:1.. --max-price 10 --idle-duration 30m',
        'kept through half an hour of idleness',
      ],
      ['berth rent --gpu MI300X:1 --name train-1 -y', 'does not ask; for scripts'],
      ['berth rent --gpu MI300X:1 -y --json | jq -r .hostname', 'waits, and prints the instance'],
    ],
    work: async () => (await import('../rent.ts')).rent,
  })
  describesMachine(made)
    .optionsGroup('What is allowed:')
    .addOption(listed('--backend <type>', 'only this cloud; may be repeated', backendTypes))
    .addOption(listed('--region <region>', 'only this region; may be repeated'))
    .addOption(listed('--instance-type <type>', 'only this instance type; may be repeated'))
  spotOptions(made)
    .option('--no-reuse', 'rent a new machine though an idle one fits')
    .optionsGroup('What becomes of it:')
    .option('--name <name>', 'lower-case letters, digits and hyphens; default: made up')
    .option('--idle-duration <time>', 'how long it may be idle, such as 5m, 8h, 0, off; default: 5m')
    .option('--max-duration <time>', 'ends it whatever it does, such as 24h; default: off')
    .option('--hold <time>', 'keeps your claim so long whatever happens, such as 2h')
    .option('--no-claim', 'leaves it to whoever claims it first')
  sshKeyOptions(made)
    .addOption(
      new Option('--hardware-check <how>', 'enforce gives a wrong machine back; default: enforce').choices(
        hardwareChecks,
      ),
    )
    .optionsGroup('How it is asked for:')
    .option('-y, --yes', 'do not ask')
    .option('-d, --detach', 'do not wait until it is ready')
    .option('--idempotency-key <key>', 'goes on with a request that was sent with this key')
  return callsApi(made)
}

/** An option that may be given several times, and with commas. */
const listed = (flags: string, description: string, choices?: readonly string[]): Option => {
  const option = new Option(flags, description)
  if (choices) option.choices(choices)
  return option.argParser((text, before: string[] | undefined) => {
    const values = text.split(',').map((part) => part.trim())
    const odd = values.find((value) => choices && !choices.includes(value))
    if (odd === undefined) return [...(before ?? []), ...values]
    throw new InvalidArgumentError(`Allowed choices are ${choices?.join(', ')}.`)
  })
}
