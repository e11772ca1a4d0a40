import type { Clock } from '../../../lib/model/clock.ts'
import { type Call, fits, type Handler, needed, pageOf } from './call.ts'
import { lifecycleOf } from './lifecycle.ts'
import type { Operation } from './operations.ts'
import type { Places } from './places.ts'
import { notFound } from './refusal.ts'
import type { CloudState, SimulatedInstance } from './state.ts'
import type { Switches } from './switches.ts'
import { timeBody } from './wire.ts'

/** What became of each launch. Why one failed after it was accepted shows only here. */
export const createWorkRequestCalls = (parts: {
  state: CloudState
  clock: Clock
  places: Places
  switches: Switches
}) => {
  const { state, clock, places, switches } = parts

  const instanceOf = (call: Call): SimulatedInstance => {
    const found = state.instances.find(
      ({ workRequestId, region }) => workRequestId === call.names.workRequestId && region === call.region,
    )
    if (!found) throw notFound()
    places.compartment(call.caller, found.compartmentId)
    return found
  }

  const hasFailed = ({ failure }: SimulatedInstance) => failure !== null && clock.now() >= failure.at

  const statusOf = (instance: SimulatedInstance) => {
    if (hasFailed(instance)) return 'FAILED'
    const lifecycle = lifecycleOf(instance, clock.now())
    return lifecycle === 'PROVISIONING' || lifecycle === 'STARTING' ? 'IN_PROGRESS' : 'SUCCEEDED'
  }

  const body = (instance: SimulatedInstance) => ({
    id: instance.workRequestId,
    compartmentId: instance.compartmentId,
    operationType: 'LaunchInstance',
    status: statusOf(instance),
    percentComplete: statusOf(instance) === 'IN_PROGRESS' ? 50 : 100,
    resources: [{ actionType: 'CREATED', entityType: 'instance', identifier: instance.id }],
    timeAccepted: timeBody(instance.createdAt),
    timeStarted: timeBody(instance.createdAt),
  })

  return {
    listWorkRequests: (call) => {
      const compartment = places.compartment(call.caller, needed(call, 'compartmentId'))
      const rows = state.instances
        .filter(
          ({ id, region, compartmentId }) =>
            region === call.region && compartmentId === compartment.id && fits(call, 'resourceId', id),
        )
        .map(body)
      return pageOf(call, rows, switches)
    },

    getWorkRequest: (call) => ({ body: body(instanceOf(call)) }),

    listWorkRequestErrors: (call) => {
      const instance = instanceOf(call)
      const rows =
        instance.failure !== null && hasFailed(instance)
          ? [{ ...instance.failure, at: undefined, timestamp: timeBody(instance.failure.at) }]
          : []
      return pageOf(call, rows, switches)
    },
  } satisfies Partial<Record<Operation, Handler>>
}
