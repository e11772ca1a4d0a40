import type * as z from 'zod'
import { progressLine } from '../sandbox/demo/progress-line.ts'
import { withHistory } from './answers.ts'
import { type Api, NoAnswer } from './api.ts'
import type { Surroundings } from './surroundings.ts'
import { stopwatch } from './words.ts'

const everyMs = 1000
/** The line at the bottom counts up between two looks. */
const tickMs = 250

export type Followed = { value: z.output<typeof withHistory>; raw: unknown }

/** Tells each new line of an instance's history until it is in service or on its way out, or `stopped` says so. */
export const followUntilReady = async (
  at: Surroundings,
  api: Api,
  id: string,
  stopped: () => boolean,
): Promise<Followed | undefined> => {
  const line = progressLine(at.err, 15_000)
  const since = at.now()
  let told = 0
  let last: Followed | undefined
  while (!stopped()) {
    const seen = await look(api, id, line.say)
    last = seen ?? last
    for (const { message } of last?.value.events.slice(told) ?? []) {
      line.say(`  ${stopwatch(at.now() - since).padStart(5)}  ${message}`)
    }
    told = Math.max(told, last?.value.events.length ?? 0)
    if (last && !isOnItsWay(last.value.status)) {
      line.clear()
      return last
    }
    const doing = last?.value.phase ?? last?.value.status ?? 'asking'
    for (let waited = 0; waited < everyMs && !stopped(); waited += tickMs) {
      line.wait(
        `  ${stopwatch(at.now() - since).padStart(5)}  ${doing} ... (Ctrl-C stops watching, not the rental)`,
      )
      await at.pause(tickMs)
    }
  }
  line.clear()
  return undefined
}

const isOnItsWay = (status: string) => status === 'pending' || status === 'provisioning'

/** An answer that does not come is no reason to stop watching what costs money. */
const look = async (api: Api, id: string, say: (line: string) => void): Promise<Followed | undefined> => {
  try {
    return await api.call(withHistory, 'GET', `/instances/${id}`)
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    say(`         ${error.message} The rental goes on; it is asked for again.`)
    return undefined
  }
}
