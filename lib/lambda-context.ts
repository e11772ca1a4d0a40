import * as z from 'zod'
import type { Context } from './context.ts'
import { leaseMs } from './lambda-lease.ts'
import { lambdaLog } from './lambda-log.ts'
import { lambdaQueues } from './lambda-queues.ts'
import { readSettings } from './settings-file.ts'
import { createDynamoClient } from './store/dynamo-client.ts'
import { wireContext } from './wire-context.ts'

/** The environment of a deployed function. */
const environment = z.object({
  BERTH_TABLE: z.string().min(1),
  /** The settings, in the YAML of `berth.yml`, with `ssh.private_key`. */
  BERTH_SETTINGS: z.string().min(1),
})

/** The context of a function on AWS, made at its first request and kept while the process lives. */
export const lambdaContext = (): Promise<Context> => {
  made ??= makeContext(process.env).catch((error: unknown) => {
    // The next request tries again: a setting may have been put right meanwhile.
    made = undefined
    throw error
  })
  return made
}

let made: Promise<Context> | undefined

const clock = { now: () => Date.now() }

const makeContext = async (env: NodeJS.ProcessEnv): Promise<Context> => {
  const variables = environment.parse(env)
  const settings = await readSettings(variables.BERTH_SETTINGS, 'BERTH_SETTINGS')
  const privateKey = z
    .string({ error: 'BERTH_SETTINGS needs ssh.private_key' })
    .parse(settings.ssh.private_key)
  const wired = wireContext({
    settings,
    privateKey,
    dynamo: { client: createDynamoClient({}), table: variables.BERTH_TABLE },
    queues: lambdaQueues(env),
    clock,
    log: lambdaLog({ clock, out: process.stdout }),
  })
  return { ...wired, leaseMs }
}
