import type { Clock } from '../../model/clock.ts'
import { messageOf } from '../../model/errors.ts'
import type { PublishedCatalogue } from '../backend.ts'
import { judgeFeeds } from './catalogue.ts'

/** Oracle's cost estimator; no credentials are needed. */
const folder = 'https://www.oracle.com/a/ocom/docs/cloudestimator2/data'
/** Some megabytes. */
const timeoutMs = 30_000

/** Reads both of Oracle's feeds anew, all or nothing. Never throws. */
export const fetchFeeds = async (options: {
  fetch: typeof fetch
  clock: Clock
}): Promise<Awaited<ReturnType<PublishedCatalogue['fetch']>>> => {
  try {
    const [shapesFeed, productsFeed] = await Promise.all(
      ['shapes', 'products'].map((name) => read(`${folder}/${name}.json`, options.fetch)),
    )
    const { shapes, left } = judgeFeeds(shapesFeed, productsFeed)
    return {
      outcome: 'read',
      catalogue: { madeAt: options.clock.now(), rows: shapes },
      left: left.map(({ shape, why }) => `${shape}: ${why}`),
    }
  } catch (error) {
    return {
      outcome: 'failed',
      message: `Oracle's lists of shapes and prices could not be read: ${messageOf(error)}`,
    }
  }
}

const read = async (url: string, get: typeof fetch): Promise<unknown> => {
  const response = await get(url, { signal: AbortSignal.timeout(timeoutMs) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return response.json()
}
