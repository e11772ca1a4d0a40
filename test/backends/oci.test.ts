import { countOf } from '../../sandbox/clouds/oci/simulated-oci.ts'
import { type Stage, testBackend } from './conformance.ts'
import { startOciStage } from './oci-stage.ts'

const minute = 60_000

const stageFor =
  (instanceType: string, { bootMs, spot }: { bootMs: number; spot: boolean }) =>
  async (): Promise<Stage> => {
    const { cloud, backend, clock } = await startOciStage()
    return {
      backend,
      clock,
      choose: (offers) =>
        offers.find((offer) => offer.instanceType === instanceType && offer.resources.spot === spot),
      bootMs,
      settleMs: 3 * minute,
      resetMs: 2 * minute,
      hasMinimum: false,
      charged: () => cloud.ledger().filter(({ endedAt }) => endedAt === null).length,
      paidCalls: () => countOf(cloud.requests, 'launchInstance'),
      loseLaunchAnswer: () => cloud.faults.once('launchInstance', { kind: 'lost_answer' }),
      cutLaunch: () => cloud.faults.once('launchInstance', { kind: 'cut_before' }),
      failListings: () => cloud.faults.always('listInstances', { kind: 'status', status: 503 }),
      spoilCredentials() {
        cloud.switches.credentials = 'all_401'
      },
      heal() {
        cloud.switches.credentials = 'good'
        cloud.faults.clear()
      },
      stop: cloud.stop,
    }
  }

testBackend('OCI preemptible virtual machines', stageFor('VM.GPU3.1', { bootMs: 2 * minute, spot: true }))
testBackend('OCI bare metal', stageFor('BM.GPU.H100.8', { bootMs: 10 * minute, spot: false }))
