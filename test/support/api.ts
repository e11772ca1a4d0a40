import { createHandler as authorizeHandler } from '../../functions/authorize.ts'
import { createHandler as fleetsHandler } from '../../functions/fleets.ts'
import { createHandler as instancesHandler } from '../../functions/instances.ts'
import { createHandler as offersHandler } from '../../functions/offers.ts'
import { hashOf } from '../../lib/http/authorize.ts'
import { startHttpServer } from '../../sandbox/local/http-server.ts'
import { invoke } from '../../sandbox/local/invoke.ts'
import { checkAnswer } from './answers-as-documented.ts'
import type { World } from './world.ts'

const apiKey = 'berth_test_key_of_alice_0123456789'

export type Answer = {
  status: number
  type: string | null
  body: Record<string, unknown>
  retryAfter?: string
}

/**
 * The API's functions on a world, over real HTTP, called with the key of alice unless a test says otherwise. Every
 * answer must be one that the API's document knows. `instances` is what the function of that name begins with.
 */
export const startApi = async (world: World, instances = async () => world.ctx) => {
  const get = async () => world.ctx
  const server = await startHttpServer({
    port: 0,
    functions: {
      authorize: authorizeHandler(get),
      offers: invoke('offers', offersHandler(get)),
      instances: invoke('instances', instancesHandler(instances)),
      fleets: invoke('fleets', fleetsHandler(get)),
    },
    onError: (error) => world.said.push(error),
  })
  await world.ctx.store.addApiKey({ hash: hashOf(apiKey), name: 'alice', role: 'operator', createdAt: 0 })
  const call = async (
    method: string,
    path: string,
    {
      body,
      headers = {},
      key = apiKey,
    }: { body?: unknown; headers?: Record<string, string>; key?: string } = {},
  ): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers: { ...(key !== '' && { authorization: `Bearer ${key}` }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const { status, headers: told } = response
    checkAnswer(method, path, { status, headers: Object.fromEntries(told), body: text })
    const answer: Record<string, unknown> = JSON.parse(text)
    const retryAfter = told.get('retry-after')
    return {
      status,
      type: told.get('content-type'),
      body: answer,
      ...(retryAfter !== null && { retryAfter }),
    }
  }
  return { call, port: server.port, stop: server.stop }
}
