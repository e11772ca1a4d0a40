import * as z from 'zod'
import type { Context } from './context.ts'
import { lambdaLog } from './lambda-log.ts'
import type { Step } from './model/step.ts'
import type { Queues } from './queues/queues.ts'
import { readSettings } from './settings-file.ts'
import { createDynamoClient } from './store/dynamo-client.ts'
import { wireContext } from './wire-context.ts'

/** The environment of a deployed function. */
const environment = z.object({
  BERTH_TABLE: z.string().min(1),
  /** The settings, in the YAML of `berth.yml`, with `ssh.private_key`. */
  BERTH_SETTINGS: z.string().min(1),
  BERTH_QUEUE_PROVISION: z.url(),
  BERTH_QUEUE_BOOTSTRAP: z.url(),
  BERTH_QUEUE_CHECK: z.url(),
  BERTH_QUEUE_TERMINATE: z.url(),
  /** The dead-letter queue of all four. */
  BERTH_QUEUE_DEAD_LETTERS: z.url(),
})

/** Functions end after 100 s (see serverless.yml), so nobody works on an instance for longer than this. */
const leaseMs = 120_000

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
    queues: lateQueues({
      urls: {
        provision: variables.BERTH_QUEUE_PROVISION,
        bootstrap: variables.BERTH_QUEUE_BOOTSTRAP,
        check: variables.BERTH_QUEUE_CHECK,
        terminate: variables.BERTH_QUEUE_TERMINATE,
      },
      deadLetters: variables.BERTH_QUEUE_DEAD_LETTERS,
    }),
    clock,
    log: lambdaLog({ clock, out: process.stdout }),
  })
  return { ...wired, leaseMs }
}

/** The client of SQS is loaded at the first message: most requests send none. */
const lateQueues = (where: { urls: Record<Step, string>; deadLetters: string }): Queues => {
  let opened: Promise<Queues> | undefined
  const open = async () => {
    const [{ SQSClient }, { createSqsQueues }] = await Promise.all([
      import('@aws-sdk/client-sqs'),
      import('./queues/sqs-queues.ts'),
    ])
    return createSqsQueues({ client: new SQSClient({}), ...where })
  }
  const once = () => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
  return {
    send: async (...hint) => (await once()).send(...hint),
    bury: async (letter) => (await once()).bury(letter),
  }
}
