import { existsSync } from 'node:fs'
import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb'
import * as z from 'zod'
import { awsRegion } from '../lib/aws-region.ts'
import { createApiKeys } from '../lib/store/dynamo-api-keys.ts'
import { createDynamoClient } from '../lib/store/dynamo-client.ts'
import type { ApiKeys } from '../lib/store/store.ts'
import { joinDynamo } from '../sandbox/local/dynoxide.ts'
import { Failure } from './failure.ts'
import type { Surroundings } from './surroundings.ts'

const place = z.object({
  table: z.string().min(1).optional(),
  region: z.string().min(1).optional(),
  data: z.string().min(1).optional(),
})

type Place = z.infer<typeof place> & { dynamoEndpoint: string | undefined; usualRegion: string }

/**
 * Works on the keys of a deployment's table, or of the folder of `npm start`, whether or not it runs. Throws a Failure
 * that says which of them to name.
 */
export const withKeys = async <Result>(
  { env }: Surroundings,
  options: unknown,
  work: (keys: ApiKeys) => Promise<Result>,
): Promise<Result> => {
  const opened = await openKeys({
    ...place.parse(options),
    dynamoEndpoint: env.DYNAMODB_ENDPOINT,
    usualRegion: awsRegion(env),
  })
  try {
    return await work(opened.keys)
  } finally {
    await opened.close()
  }
}

const openKeys = async (place: Place): Promise<{ keys: ApiKeys; close: () => Promise<void> }> => {
  const { table, data } = place
  if ((table === undefined) === (data === undefined)) {
    throw new Failure(
      'wrongUsage',
      'Say whose keys: --table berth-prod for a deployment, or --data .berth for npm start on this machine.',
    )
  }
  if (data !== undefined) return openFolder(data, place.dynamoEndpoint)
  const region = place.region ?? place.usualRegion
  const client = createDynamoClient({ region })
  const keys = createApiKeys({ client, table: table ?? '' })
  return { keys: withAdvice(keys, `${table} in ${region}`), close: async () => client.destroy() }
}

const openFolder = async (folder: string, endpoint: string | undefined) => {
  if (!existsSync(folder)) {
    throw new Failure(
      'failed',
      `There is no folder ${folder}. Start Berth on it once: npm start -- --data ${folder}`,
    )
  }
  const dynamo = await joinDynamo({ folder, endpoint })
  const client = createDynamoClient(dynamo.config)
  return {
    keys: createApiKeys({ client, table: dynamo.table }),
    close: async () => {
      client.destroy()
      await dynamo.stop()
    },
  }
}

const withAdvice = (keys: ApiKeys, table: string): ApiKeys => {
  const advised = async <Value>(asked: Promise<Value>): Promise<Value> => {
    try {
      return await asked
    } catch (error) {
      if (!(error instanceof ResourceNotFoundException)) throw error
      throw new Failure(
        'failed',
        `There is no table ${table}, as far as the AWS credentials reach. Deploy first, or name the right --table and --region.`,
      )
    }
  }
  return {
    addApiKey: (key) => advised(keys.addApiKey(key)),
    changeApiKey: (key) => advised(keys.changeApiKey(key)),
    findApiKey: (hash) => advised(keys.findApiKey(hash)),
    keyLimits: (name) => advised(keys.keyLimits(name)),
    listApiKeys: () => advised(keys.listApiKeys()),
    removeApiKey: (name) => advised(keys.removeApiKey(name)),
  }
}
