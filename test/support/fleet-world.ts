import { afterEach } from 'vitest'
import { keepFleets } from '../../lib/lifecycle/keep-fleets.ts'
import type { Instance } from '../../lib/model/instance.ts'
import { type Answer, startApi } from './api.ts'
import type { World } from './world.ts'
import { longWorldSuite } from './world-suite.ts'

/** A world with the API, in which fleets are seen to as time goes on. */
const fleetWorld = async (w: World) => {
  const api = await startApi(w)
  const keep = () => keepFleets(w.ctx)
  /** So many minutes, with a look at the fleets at each of them, or at each of so many. */
  const pass = async (minutes: number, every = 1) => {
    for (let at = 0; at < minutes; at += every) {
      await w.run(every)
      await keep()
    }
  }
  const live = async (): Promise<Instance[]> =>
    (await w.live()).filter(({ status }) => status !== 'terminating')
  return {
    ...w,
    api,
    keep,
    pass,
    /** As a person does in Hot Aisle's console. */
    deleteByHand: async (path: string): Promise<void> => {
      const answer = await fetch(`${w.cloud.url}/teams/${w.cloud.team}/${path}/?force=true`, {
        method: 'DELETE',
        headers: { authorization: `Token ${w.cloud.apiKey}` },
      })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    },
    apply: (file: object, name = 'amd'): Promise<Answer> =>
      api.call('PUT', `/fleets/${name}`, { body: { type: 'fleet', ...file } }),
    plan: (file: object, name = 'amd'): Promise<Answer> =>
      api.call('PUT', `/fleets/${name}?plan=true`, { body: { type: 'fleet', ...file } }),
    fleet: async (name = 'amd') => (await api.call('GET', `/fleets/${name}`)).body,
    drop: (name = 'amd') => api.call('DELETE', `/fleets/${name}`),
    /** Live nodes, by name. */
    nodes: async () => (await live()).sort((a, b) => (a.name < b.name ? -1 : 1)),
    /** Passes minutes until so many nodes are idle or busy. */
    untilServing: async (count: number, minutes = 120): Promise<Instance[]> => {
      for (let at = 0; at < minutes; at++) {
        const serving = (await live()).filter(({ status }) => status === 'idle' || status === 'busy')
        if (serving.length === count) return serving.sort((a, b) => (a.name < b.name ? -1 : 1))
        await pass(1)
      }
      throw new Error(`never ${count} nodes in service: ${JSON.stringify(await w.live(), null, 1)}`)
    },
  }
}
export type FleetWorld = Awaited<ReturnType<typeof fleetWorld>>

/** Such worlds for the tests of one file, in memory; each has an API of its own. */
export const fleetWorldSuite = () => {
  const world = longWorldSuite()
  const apis: FleetWorld['api'][] = []
  afterEach(async () => {
    for (const api of apis.splice(0)) await api.stop()
  })
  return async (options?: Parameters<typeof world>[0]): Promise<FleetWorld> => {
    const made = await fleetWorld(await world(options))
    apis.push(made.api)
    return made
  }
}
