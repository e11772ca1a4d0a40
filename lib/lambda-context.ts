import * as z from 'zod'
import type { Context } from './context.ts'
import { leaseMs } from './lambda-lease.ts'
import { lambdaLog, logger } from './lambda-log.ts'
import { lambdaQueues } from './lambda-queues.ts'
import { lambdaSecrets } from './lambda-secrets.ts'
import { messageOf } from './model/errors.ts'
import { createDynamoClient } from './store/dynamo-client.ts'
import { wireContext } from './wire-context.ts'

const environment = z.object({ BERTH_TABLE: z.string().min(1) })

/** The context of a function on AWS, made at its first request and kept while the process lives. */
export const lambdaContext = (): Promise<Context> => {
  made ??= makeContext(process.env).catch((error: unknown) => {
    // The next request tries again: a setting may have been put right meanwhile.
    made = undefined
    logger.error('the function cannot begin', { error: messageOf(error) })
    throw error
  })
  return made
}

let made: Promise<Context> | undefined

const clock = { now: () => Date.now() }

const makeContext = async (env: NodeJS.ProcessEnv): Promise<Context> => {
  const { BERTH_TABLE: table } = environment.parse(env)
  const { settings, privateKey } = await lambdaSecrets(env)
  const wired = await wireContext({
    settings,
    privateKey,
    dynamo: { client: createDynamoClient({}), table },
    queues: lambdaQueues(env),
    clock,
    log: lambdaLog({ clock, out: process.stdout }),
  })
  return { ...wired, leaseMs }
}
