import { randomBytes } from 'node:crypto'
import type { Store } from '../lib/store/store.ts'
import { anInstance } from '../test/support/instances.ts'
import { apiKey } from './bundle-stage.ts'

/** Event of one start of a function, made anew for each. */
export type EventOf = () => Promise<unknown>

/**
 * For `provision` a request that no cloud can meet: it asks every cloud and rents nothing, so that each start has the
 * same to do. The other queues get a hint that came twice, which leads to one look at the record.
 */
export const eventsFor = (store: Store): Record<string, EventOf> => ({
  authorize: async () => ({ headers: { authorization: `Bearer ${apiKey}` } }),
  offers: async () => httpEvent('/offers'),
  instances: async () => httpEvent('/instances'),
  provision: async () => sqsEvent(await unmet(store)),
  bootstrap: async () => sqsEvent(await unmet(store)),
  check: async () => sqsEvent(await unmet(store)),
  terminate: async () => sqsEvent(await unmet(store)),
  'idle-check': async () => ({}),
  fleets: async () => httpEvent('/fleets'),
  'keep-fleets': async () => ({}),
  reconcile: async () => ({}),
  'refresh-catalog': async () => ({}),
  'empty-handler': async () => httpEvent('/offers'),
})

/** A request as API Gateway hands it on, of a key that may do everything. */
export const httpEvent = (path: string, posted?: object) => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: path,
  rawQueryString: '',
  headers: {},
  requestContext: {
    http: {
      method: posted ? 'POST' : 'GET',
      path,
      protocol: 'HTTP/1.1',
      sourceIp: '192.0.2.1',
      userAgent: 'bench',
    },
    authorizer: { lambda: { name: 'bench', role: 'operator' } },
  },
  isBase64Encoded: false,
  ...(posted && { body: JSON.stringify(posted) }),
})

const unmet = async (store: Store): Promise<string> => {
  const now = Date.now()
  const id = `i-${randomBytes(6).toString('hex')}`
  const wanted = { requirements: { gpu: { count: { min: 64 } } }, spotPolicy: 'auto' as const }
  // Not for the sweep, which must have the same to do at each start.
  const times = { createdAt: now, nextCheckAt: now, sweepAt: now + 3_600_000 }
  await store.create(anInstance({ id, name: id, wanted, ...times }))
  return id
}

const sqsEvent = (instanceId: string) => ({
  Records: [{ messageId: 'm-1', body: JSON.stringify({ instanceId }), eventSource: 'aws:sqs' }],
})
