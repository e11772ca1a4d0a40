import type { Clock } from '../../../lib/model/clock.ts'
import { startOf } from './billing.ts'
import { type Call, fits, type Handler, needed, pageOf } from './call.ts'
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
    const asked = call.names.workRequestId
    const found = state.instances.find(
      (instance) =>
        (instance.workRequestId === asked || endIdOf(instance) === asked) && instance.region === call.region,
    )
    if (!found) throw notFound()
    places.compartment(call.caller, found.compartmentId)
    return found
  }

  const hasFailed = ({ failure }: SimulatedInstance) => failure !== null && clock.now() >= failure.at

  const launchOf = (instance: SimulatedInstance) => {
    const now = clock.now()
    const runsSince = startOf(instance, now)
    const came = (status: string, at: number | null) => ({
      status,
      ...(at !== null && { timeFinished: timeBody(at) }),
    })
    if (hasFailed(instance)) return came('FAILED', instance.failure?.at ?? null)
    if (runsSince !== null) return came('SUCCEEDED', runsSince)
    return instance.endedAt !== null && now >= instance.endedAt
      ? came('CANCELED', instance.endedAt)
      : came('IN_PROGRESS', null)
  }

  const launchBody = (instance: SimulatedInstance) => ({
    id: instance.workRequestId,
    compartmentId: instance.compartmentId,
    operationType: 'LaunchInstance',
    percentComplete: launchOf(instance).status === 'IN_PROGRESS' ? 50 : 100,
    resources: [{ actionType: 'CREATED', entityType: 'instance', identifier: instance.id }],
    timeAccepted: timeBody(instance.createdAt),
    timeStarted: timeBody(instance.createdAt),
    ...launchOf(instance),
  })

  /** There is none for a machine whose host was taken away. */
  const endBodies = (instance: SimulatedInstance) => {
    const { endedAt, terminatedAt, interrupted } = instance
    if (endedAt === null || terminatedAt === null || interrupted) return []
    const isDone = clock.now() >= terminatedAt
    return [
      {
        ...launchBody(instance),
        id: endIdOf(instance),
        operationType: 'TerminateInstance',
        status: isDone ? 'SUCCEEDED' : 'IN_PROGRESS',
        percentComplete: isDone ? 100 : 50,
        resources: [{ actionType: 'DELETED', entityType: 'instance', identifier: instance.id }],
        timeAccepted: timeBody(endedAt),
        timeStarted: timeBody(endedAt),
        timeFinished: isDone ? timeBody(terminatedAt) : null,
      },
    ]
  }

  return {
    listWorkRequests: (call) => {
      const compartment = places.compartment(call.caller, needed(call, 'compartmentId'))
      const rows = state.instances
        .filter(
          ({ id, region, compartmentId }) =>
            region === call.region && compartmentId === compartment.id && fits(call, 'resourceId', id),
        )
        .flatMap((instance) => [launchBody(instance), ...endBodies(instance)])
      return pageOf(call, rows, switches)
    },

    getWorkRequest: (call) => {
      const instance = instanceOf(call)
      const [end] = call.names.workRequestId === endIdOf(instance) ? endBodies(instance) : []
      return { body: end ?? launchBody(instance) }
    },

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

/** Of its termination. */
export const endIdOf = ({ workRequestId }: SimulatedInstance): string => `${workRequestId}end`
