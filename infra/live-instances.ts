import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb'
import { instanceView } from '../lib/http/instance-view.ts'
import { everyLive } from '../lib/lifecycle/every-instance.ts'
import type { Instance } from '../lib/model/instance.ts'
import type { Store } from '../lib/store/store.ts'

/** A line for each instance that is not terminated, with what it costs. None where there is no table. */
export const liveInstances = async (store: Store, now: number): Promise<string[]> => {
  try {
    return (await everyLive({ store })).map((instance) => lineOf(instance, now))
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return []
    throw error
  }
}

/** What to do about them. */
export const waysToEnd = `Without its functions nothing gives these machines back, and they cost money until somebody does.
For each of them: DELETE /instances/<id>, and wait until it is terminated. One that is prepaid ends with its prepaid time;
?force=true gives it back at once and forfeits the rest. See docs/deploy.md, "Remove".`

const lineOf = (instance: Instance, now: number): string => {
  const { id, name, status, backend, instanceType, cloudId, pricePerHour, reservedUntil } = instanceView(
    instance,
    now,
  )
  return [
    `${id} (${name}) is ${status}`,
    ...(backend === null ? ['no machine is chosen yet'] : [`${backend} ${instanceType}`]),
    ...(cloudId === null ? [] : [`cloud id ${cloudId}`]),
    ...(pricePerHour === null ? [] : [`$${pricePerHour.toFixed(2)} an hour`]),
    ...(reservedUntil === null ? [] : [`prepaid until ${reservedUntil}`]),
  ].join(', ')
}
