import type { Endpoint } from '../../sandbox/clouds/hotaisle/faults.ts'
import { countOf } from '../../sandbox/clouds/hotaisle/simulated-hot-aisle.ts'
import { type Stage, testBackend } from './conformance.ts'
import { startHotAisleStage } from './hotaisle-stage.ts'

const minute = 60_000

const stageFor =
  (instanceType: string, sizes: { bootMs: number; settleMs: number }) => async (): Promise<Stage> => {
    const { cloud, backend, clock } = await startHotAisleStage()
    const create: Endpoint = instanceType.startsWith('bm') ? 'POST bare_metal' : 'POST virtual_machines'
    return {
      backend,
      clock,
      choose: (offers) => offers.find((offer) => offer.instanceType === instanceType),
      ...sizes,
      resetMs: minute,
      hasMinimum: true,
      charged: () => cloud.ledger().filter(({ endedAt }) => endedAt === null).length,
      paidCalls: () => countOf(cloud.requests, create),
      loseLaunchAnswer: () => cloud.faults.once(create, { kind: 'lost_answer' }),
      cutLaunch: () => cloud.faults.once(create, { kind: 'cut_before' }),
      failListings() {
        cloud.faults.always('GET virtual_machines', { kind: 'status', status: 503 })
        cloud.faults.always('GET bare_metal', { kind: 'status', status: 503 })
      },
      spoilCredentials: () => cloud.setApiKey('another.key'),
      heal() {
        cloud.setApiKey(cloud.apiKey)
        cloud.faults.clear()
      },
      stop: cloud.stop,
    }
  }

testBackend('Hot Aisle virtual machines', stageFor('vm-mi300x-2', { bootMs: minute, settleMs: 11 * minute }))
testBackend('Hot Aisle bare metal', stageFor('bm-mi300x-8', { bootMs: 15 * minute, settleMs: 11 * minute }))
