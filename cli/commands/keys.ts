import { Command, Option } from 'commander'
import { keyRoles } from '../../lib/model/choices.ts'
import { command, type Make, printsJson } from './command.ts'

export const keysCommand: Make = (at, { name, summary }) =>
  new Command(name)
    .summary(summary)
    .description(
      'API keys: who may call a Berth. They are made, listed and revoked in its table itself, with AWS credentials for ' +
        'a deployment, or as the owner of the folder of npm start: with an API key alone nobody gets another.',
    )
    .addCommand(
      placed(
        command(at, {
          name: 'create',
          summary: 'makes a key, and shows it this once',
          examples: [
            ['berth keys create --table berth-prod --name alice --role operator', 'may rent and give back'],
            [
              'berth keys create --data .berth --name board --role viewer --expires 90d',
              'may look, for 90 days',
            ],
            [
              'berth keys create --data .berth --name bob --role operator --monthly-budget 500',
              'may spend $500 a month',
            ],
          ],
          work: async () => (await import('../keys.ts')).createKey,
        })
          .addOption(
            new Option('--name <name>', 'who it is for; claims belong to this name').makeOptionMandatory(),
          )
          .addOption(
            new Option('--role <role>', 'a viewer may look; an operator may rent and give back')
              .choices(keyRoles)
              .makeOptionMandatory(),
          )
          .option('--expires <time>', 'for how long it is good, such as 90d; without it, for ever')
          .optionsGroup('What may be spent with it:')
          .option('--max-price-per-hour <dollars>', 'of all machines that it holds at the same time')
          .option('--max-instances <count>', 'how many machines it may hold at the same time')
          .option('--monthly-budget <dollars>', 'of all that it rents, in a month of UTC'),
      ),
    )
    .addCommand(
      placed(
        command(at, {
          name: 'limit',
          summary: 'changes what may be spent with a key',
          examples: [
            ['berth keys limit bob --monthly-budget 800 --data .berth', 'the rest stays as it is'],
            ['berth keys limit bob --max-instances none --data .berth', 'as many as the deployment allows'],
          ],
          work: async () => (await import('../key-limits.ts')).limitKey,
        })
          .argument('<name>', 'its name, as "berth keys list" shows it')
          .optionsGroup('What may be spent with it, a number or none:')
          .option('--max-price-per-hour <dollars>', 'of all machines that it holds at the same time')
          .option('--max-instances <count>', 'how many machines it may hold at the same time')
          .option('--monthly-budget <dollars>', 'of all that it rents, in a month of UTC'),
      ),
    )
    .addCommand(
      placed(
        command(at, {
          name: 'list',
          summary: 'shows the keys, not their secrets',
          examples: [['berth keys list --table berth-prod', 'who may call the deployment']],
          work: async () => (await import('../keys.ts')).listKeys,
        }),
      ),
    )
    .addCommand(
      placed(
        command(at, {
          name: 'revoke',
          summary: 'makes a key worthless and its name free',
          examples: [['berth keys revoke alice --table berth-prod', 'at once, or after two minutes at most']],
          work: async () => (await import('../keys.ts')).revokeKey,
        }).argument('<name-or-id>', 'its name, or its id as "berth keys list" shows it'),
      ),
    )

const placed = (made: Command): Command =>
  printsJson(made)
    .optionsGroup('Where the keys are:')
    .option('--table <name>', 'the table of a deployment, such as berth-prod; needs AWS credentials')
    .option('--region <region>', 'where that is; default: AWS_REGION, or else us-east-1')
    .option('--data <folder>', 'or the folder of npm start, such as .berth, whether or not it runs')
