import { createHash } from 'node:crypto'
import type { Clock } from '../../../lib/model/clock.ts'
import type { Call } from './call.ts'
import { Refusal } from './refusal.ts'
import type { CloudState } from './state.ts'

const rememberedMs = 24 * 60 * 60_000

/** `opc-retry-token`: the same request sent again within 24 hours makes nothing new. */
export const createRetryTokens = (parts: { state: CloudState; clock: Clock }) => {
  const { state, clock } = parts
  return {
    /** The id that `make` gives, or that it gave for the same token. Throws 409 where the request was another. */
    once(call: Call, make: () => string): string {
      const { operation, caller, region, body, retryToken: token } = call
      if (token === undefined) return make()
      const scope = `${caller.tenancyId} ${region} ${operation}`
      const payload = createHash('sha256').update(JSON.stringify(body)).digest('hex')
      const since = clock.now() - rememberedMs
      const known = state.retryTokens.find(
        (row) => row.scope === scope && row.token === token && row.at > since,
      )
      if (known && known.payload !== payload) throw invalidated()
      if (known) return known.id
      const id = make()
      state.retryTokens = state.retryTokens.filter(({ at }) => at > since)
      state.retryTokens.push({ scope, token, payload, id, at: clock.now() })
      return id
    },
  }
}

export type RetryTokens = ReturnType<typeof createRetryTokens>

const invalidated = () =>
  new Refusal(
    409,
    'InvalidatedRetryToken',
    'The provided retry token was used in an earlier request with other contents.',
  )
