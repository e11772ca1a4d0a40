import { Command, InvalidArgumentError, Option } from 'commander'
import * as z from 'zod'
import { keyId, keyName, keyRole, newApiKey } from '../lib/http/new-api-key.ts'
import { isLimited, limits } from '../lib/model/limits.ts'
import { formatDollars } from '../lib/model/money.ts'
import { span } from '../lib/model/span.ts'
import type { ApiKey, ApiKeys } from '../lib/store/store.ts'
import { openKeys } from './open-keys.ts'

type Surroundings = {
  now: () => number
  /** What was asked for, to be read by programs as well. */
  tell: (line: string) => void
  /** What a person should know beside it. */
  note: (line: string) => void
  dynamoEndpoint: string | undefined
}

const place = z.object({
  table: z.string().min(1).optional(),
  region: z.string().min(1).optional(),
  data: z.string().min(1).optional(),
})
const wanted = z.object({
  name: keyName,
  role: keyRole,
  expires: z.number().optional(),
  maxPricePerHour: z.number().optional(),
  maxInstances: z.number().optional(),
  monthlyBudget: z.number().optional(),
})

/**
 * API keys: made, listed and revoked in the table itself. Who may do that is a matter of AWS credentials, or of the
 * folder's owner: with an API key alone nobody gets another.
 */
export const keysCommand = ({ now, tell, note, dynamoEndpoint }: Surroundings): Command => {
  const withKeys = async <Result>(options: unknown, work: (keys: ApiKeys) => Promise<Result>) => {
    const opened = await openKeys({ ...place.parse(options), dynamoEndpoint })
    try {
      return await work(opened.keys)
    } finally {
      await opened.close()
    }
  }

  const create = async (options: unknown) => {
    const { name, role, expires, ...given } = wanted.parse(options)
    const own = {
      max_price_per_hour: given.maxPricePerHour,
      max_instances: given.maxInstances,
      monthly_budget: given.monthlyBudget,
    }
    const createdAt = now()
    const expiresAt = expires === undefined ? undefined : createdAt + expires
    const { apiKey, kept } = newApiKey({
      name,
      role,
      createdAt,
      ...(expiresAt && { expiresAt }),
      ...(isLimited(own) && { limits: own }),
    })
    const isNew = await withKeys(options, (keys) => keys.addApiKey(kept))
    if (!isNew) {
      throw new Error(
        `There is a key named ${name} already. Take another name, or revoke that one first: berth keys revoke ${name}`,
      )
    }
    note(`The key of ${name} (${role}, ${until(kept)}) is shown this once, and kept nowhere:`)
    tell(apiKey)
  }

  const list = async (options: unknown) => {
    const keys = await withKeys(options, (opened) => opened.listApiKeys())
    const rows = keys.map((key) => [
      key.name,
      key.role,
      keyId(key),
      `made ${day(key.createdAt)}`,
      now() < (key.expiresAt ?? Number.POSITIVE_INFINITY) ? until(key) : 'expired',
      limitsOf(key),
    ])
    for (const row of aligned(rows)) tell(row)
    if (rows.length === 0) note('There is no key yet: berth keys create --name NAME --role operator')
  }

  const revoke = async (nameOrId: string, options: unknown) => {
    const revoked = await withKeys(options, async (keys) => {
      const all = await keys.listApiKeys()
      const key = all.find(({ name }) => name === nameOrId) ?? all.find((each) => keyId(each) === nameOrId)
      return key && (await keys.removeApiKey(key.name))
    })
    if (!revoked) throw new Error(`There is no key ${nameOrId}. See: berth keys list`)
    tell(
      `The key of ${revoked.name} (${keyId(revoked)}) is revoked. It may be good for up to two more minutes.`,
    )
  }

  return new Command('keys')
    .description('API keys: who may call a Berth')
    .addCommand(
      placed(new Command('create').description('makes a key, and shows it this once'))
        .addOption(
          checked(
            '--name <name>',
            'who it is for; claims belong to this name',
            keyName,
          ).makeOptionMandatory(),
        )
        .addOption(
          new Option('--role <role>', 'a viewer may look; an operator may rent and give back')
            .choices(keyRole.options)
            .makeOptionMandatory(),
        )
        .addOption(
          checked('--expires <time>', 'for how long it is good, such as 90d; without it, for ever', lifetime),
        )
        .addOption(
          checked(
            '--max-price-per-hour <dollars>',
            'of everything that runs for it at the same time',
            limits.shape.max_price_per_hour,
          ),
        )
        .addOption(
          checked(
            '--max-instances <number>',
            'that it may have at the same time',
            limits.shape.max_instances,
          ),
        )
        .addOption(
          checked(
            '--monthly-budget <dollars>',
            'that it may spend in a month (UTC)',
            limits.shape.monthly_budget,
          ),
        )
        .action(create),
    )
    .addCommand(placed(new Command('list').description('shows the keys, not their secrets')).action(list))
    .addCommand(
      placed(new Command('revoke').description('makes a key worthless and its name free'))
        .argument('<name-or-id>')
        .action(revoke),
    )
}

const lifetime = span.refine(
  (ms) => ms > 0,
  'a key must be good for some time; write a time span such as "90d"',
)

const placed = (command: Command): Command =>
  command
    .option('--table <name>', 'the table of a deployment, such as berth-prod; needs AWS credentials')
    .option('--region <region>', 'where that is; default: as AWS credentials say')
    .option('--data <folder>', 'or the folder of npm start, such as .berth, whether or not it runs')

/** An option whose values a schema checks. */
const checked = (flags: string, description: string, schema: z.ZodType): Option =>
  new Option(flags, description).argParser((text) => {
    const result = schema.safeParse(text)
    if (result.success) return result.data
    throw new InvalidArgumentError(result.error.issues.map(({ message }) => message).join('; '))
  })

const limitsOf = ({ limits = {} }: Pick<ApiKey, 'limits'>): string => {
  const { max_price_per_hour: price, max_instances: instances, monthly_budget: budget } = limits
  return [
    price === undefined ? [] : `${formatDollars(price)} an hour`,
    instances === undefined ? [] : `${instances} ${instances === 1 ? 'instance' : 'instances'}`,
    budget === undefined ? [] : `${formatDollars(budget)} a month`,
  ]
    .flat()
    .join(', ')
}

const day = (ms: number) => new Date(ms).toISOString().slice(0, 10)

const until = ({ expiresAt }: Pick<ApiKey, 'expiresAt'>) =>
  expiresAt === undefined ? 'never expires' : `expires ${new Date(expiresAt).toISOString().slice(0, 16)}Z`

/** Columns of equal width, two blanks apart. */
const aligned = (rows: string[][]): string[] => {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
