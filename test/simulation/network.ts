import type { Dice } from '../support/dice.ts'
import { type Cloud, type Faults, networkPoint, type Purpose, troublesOf } from './faults.ts'
import type { Run } from './functions.ts'
import type { Timeline } from './timeline.ts'

export type Witness = (
  request: { run: Run | undefined; purpose: Purpose; url: URL },
  reached: () => Promise<Response>,
) => Promise<Response>

/** One call of a function to what is outside of it; see `functions.ts`. */
export type Call = <Value>(name: string, effect: () => Promise<Value>) => Promise<Value>

/** After how long Berth's clients give up, in milliseconds. */
const timeOutMs: Record<Cloud, Record<Purpose, number>> = {
  hotaisle: { launch: 30_000, release: 10_000, write: 15_000, read: 15_000 },
  oci: { launch: 40_000, release: 15_000, write: 15_000, read: 15_000 },
}

/**
 * How long after it was sent a launch can still be done: what Berth takes for granted when it believes an empty list
 * (Hot Aisle 10 minutes, OCI 2 minutes after the intent), less the time until it is sent and what clocks differ by.
 */
const latestMs: Record<Cloud, number> = { hotaisle: 420_000, oci: 60_000 }

/** The way to a cloud as it can be: requests and answers get lost, are late, or are refused for no good reason. */
export const createNetwork = (parts: {
  cloud: Cloud
  /** Brings a request to the cloud and its answer back. */
  reach: typeof fetch
  /** Who asks. */
  current: () => Run | undefined
  /** Stands around everything that reaches the cloud, whenever it does. */
  witness: Witness
  call: Call
  faults: Faults
  dice: Dice
  timeline: Timeline
}): typeof fetch => {
  const { cloud, faults, dice, timeline } = parts
  return (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const purpose = purposeOf(cloud, init?.method ?? 'GET', url.pathname)
    const run = parts.current()
    const reached = () => parts.witness({ run, purpose, url }, () => parts.reach(input, init))
    const giveUp = async (): Promise<never> => {
      await timeline.sleep(timeOutMs[cloud][purpose])
      throw new DOMException('The operation was aborted due to timeout', 'TimeoutError')
    }
    const retryAfter = () => ({ 'retry-after': String(dice.int(5, 180)) })
    return parts.call(`${cloud} ${purpose}`, async () => {
      const trouble = troublesOf(purpose).find((each) => faults.strikes(networkPoint(cloud, purpose, each)))
      switch (trouble) {
        case undefined:
          return reached()
        case 'answer lost':
          await reached()
          return giveUp()
        case 'done late':
          timeline.at(timeline.now() + dice.int(10_000, latestMs[cloud]), () => void reached())
          return giveUp()
        case '500 though done':
          await reached()
          return failing(cloud, 500)
        case '500':
          return failing(cloud, 500)
        case '503':
          return failing(cloud, 503, dice.chance(0.5) ? retryAfter() : {})
        case '429':
          return failing(cloud, 429, retryAfter())
        case 'cut':
          throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } })
        case 'refused':
          throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })
      }
    })
  }
}

const purposeOf = (cloud: Cloud, method: string, path: string): Purpose => {
  if (method === 'GET' || path.endsWith('/computeCapacityReports')) return 'read'
  const isMachine =
    cloud === 'oci' ? /\/instances(\/[^/]+)?$/ : /\/(virtual_machines|bare_metal)(\/[^/]+)?\/$/
  if (!isMachine.test(path)) return 'write'
  if (method === 'DELETE') return 'release'
  return method === 'POST' ? 'launch' : 'write'
}

const failing = (cloud: Cloud, status: number, headers: Record<string, string> = {}) =>
  cloud === 'oci'
    ? Response.json(
        { code: status === 429 ? 'TooManyRequests' : 'InternalError', message: 'Injected fault' },
        { status, headers },
      )
    : new Response('Injected fault', { status, headers })
