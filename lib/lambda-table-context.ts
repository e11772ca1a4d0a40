import * as z from 'zod'
import type { Context } from './context.ts'
import { leaseMs } from './lambda-lease.ts'
import { lambdaLog } from './lambda-log.ts'
import { lambdaQueues } from './lambda-queues.ts'
import type { Queues } from './queues/queues.ts'
import { randomHex } from './random-hex.ts'
import { createDynamoClient } from './store/dynamo-client.ts'
import { createDynamoStore } from './store/dynamo-store.ts'

/** What functions need that visit neither clouds nor machines: no settings, and no key. */
export type TableContext = Pick<Context, 'store' | 'queues' | 'clock' | 'log' | 'random' | 'leaseMs'>

/** Made at the first request and kept while the process lives. */
export const lambdaTableContext = async (): Promise<TableContext> => {
  made ??= makeContext(process.env)
  return made
}

let made: TableContext | undefined

const environment = z.object({ BERTH_TABLE: z.string().min(1) })

const makeContext = (env: NodeJS.ProcessEnv): TableContext => {
  const { BERTH_TABLE: table } = environment.parse(env)
  const clock = { now: () => Date.now() }
  const random = { hex: randomHex }
  return {
    store: createDynamoStore({ client: createDynamoClient({}), table, random }),
    queues: atFirstUse(() => lambdaQueues(env)),
    clock,
    random,
    log: lambdaLog({ clock, out: process.stdout }),
    leaseMs,
  }
}

/** Functions that send nothing are not told where the queues are. */
const atFirstUse = (open: () => Queues): Queues => {
  let opened: Queues | undefined
  const once = () => {
    opened ??= open()
    return opened
  }
  return {
    send: async (...hint) => once().send(...hint),
    bury: async (letter) => once().bury(letter),
  }
}
