import { Option } from 'commander'
import { backendTypes } from '../../lib/model/choices.ts'
import { callsApi, command, describesMachine, type Make, spotOptions } from './command.ts'

export const offerCommand: Make = (at, it) => {
  const made = command(at, {
    ...it,
    description:
      'What can be rented now, what can be had first and is cheapest first. Idle machines that Berth holds already ' +
      'come before all others: taking one costs nothing new. Why a backend is missing is said below the table.',
    examples: [
      ['berth offer', 'everything'],
      ['berth offer --gpu MI300X:8', 'machines with eight MI300X'],
      ['berth offer --gpu nvidia:80GB.. --spot --max-price 5', 'cheap and interruptible'],
      ["berth offer --json | jq '.offers[0].pricePerHour'", 'for programs'],
    ],
    work: async () => (await import('../offer.ts')).offer,
  })
  describesMachine(made)
    .optionsGroup('What is allowed:')
    .addOption(new Option('--backend <type>', 'only this cloud').choices(backendTypes))
    .option('--region <region>', 'only this region, such as us-michigan-1')
    .option('--instance-type <type>', 'only this instance type, such as bm-mi300x-8')
  return callsApi(spotOptions(made))
}
