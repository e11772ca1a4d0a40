import * as z from 'zod'
import type { Queues } from './queues/queues.ts'

const environment = z.object({
  BERTH_QUEUE_PROVISION: z.url(),
  BERTH_QUEUE_BOOTSTRAP: z.url(),
  BERTH_QUEUE_CHECK: z.url(),
  BERTH_QUEUE_TERMINATE: z.url(),
  /** The dead-letter queue of all four. */
  BERTH_QUEUE_DEAD_LETTERS: z.url(),
})

/** The queues of a deployed function. The client of SQS is loaded at the first message: most requests send none. */
export const lambdaQueues = (env: NodeJS.ProcessEnv): Queues => {
  const variables = environment.parse(env)
  const where = {
    urls: {
      provision: variables.BERTH_QUEUE_PROVISION,
      bootstrap: variables.BERTH_QUEUE_BOOTSTRAP,
      check: variables.BERTH_QUEUE_CHECK,
      terminate: variables.BERTH_QUEUE_TERMINATE,
    },
    deadLetters: variables.BERTH_QUEUE_DEAD_LETTERS,
  }
  let opened: Promise<Queues> | undefined
  const open = async () => {
    const { openSqs } = await import('./queues/open-sqs.ts')
    return openSqs(where)
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
