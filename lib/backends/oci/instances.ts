import * as z from 'zod'
import type { LaunchedMachine, OwnedListing, OwnedMachine } from '../backend.ts'
import { type Answer, after, ok } from './answer.ts'
import type { Api } from './api.ts'
import type { Places } from './places.ts'

/** Free-form tags that Berth sets. Keys may have neither spaces nor periods. */
export const markTag = 'berth'
/** Set before a preemptible machine is given back: one that ends without it was taken by OCI. */
export const releasedTag = 'berth-released'

/** An instance as OCI shows it. */
const instance = z
  .object({
    id: z.string().min(1),
    compartmentId: z.string(),
    lifecycleState: z.string(),
    shape: z.string(),
    displayName: z.string().nullish(),
    freeformTags: z.record(z.string(), z.string()).nullish(),
    preemptibleInstanceConfig: z.unknown(),
    timeCreated: z.coerce.date().optional().catch(undefined),
  })
  .transform((seen) => ({
    id: seen.id,
    compartmentId: seen.compartmentId,
    state: seen.lifecycleState,
    shape: seen.shape,
    tags: seen.freeformTags ?? {},
    mark: seen.freeformTags?.[markTag],
    name: seen.displayName ?? '',
    preemptible: seen.preemptibleInstanceConfig !== null && seen.preemptibleInstanceConfig !== undefined,
    createdAt: seen.timeCreated?.getTime(),
  }))
export type SeenInstance = z.infer<typeof instance>

export const getInstance = (api: Api, region: string, instanceId: string): Promise<Answer<SeenInstance>> =>
  api.ask('instance', region, async ({ compute }) =>
    instance.parse((await compute.getInstance({ instanceId })).instance),
  )

/** Every instance of the compartment in a region, also those that ended within the hour; all or nothing. */
export const listInstances = (
  api: Api,
  region: string,
  compartmentId: string,
): Promise<Answer<SeenInstance[]>> =>
  api.list('instances', region, async ({ compute }, page) => {
    const { items, opcNextPage } = await compute.listInstances({
      compartmentId,
      ...(page !== undefined && { page }),
    })
    return { items: items.map((row) => instance.parse(row)), opcNextPage }
  })

/**
 * Every machine of the compartment that has not ended, in every region with images, whatever the settings allow now: a
 * machine may be older than they are.
 */
export const listOwned = async (api: Api, places: Places): Promise<OwnedListing> => {
  const place = await after(await places.regions(), async ({ reachable }) =>
    after(await places.compartment(), (compartmentId) => ok({ reachable, compartmentId })),
  )
  if (place.kind === 'failed') return { complete: false, machines: [], message: place.message }
  const { reachable, compartmentId } = place.value
  if (compartmentId === undefined) return { complete: true, machines: [] }
  const lists = await Promise.all(
    reachable.map(async (region) => ({ region, answer: await listInstances(api, region, compartmentId) })),
  )
  const failures = lists.flatMap(({ region, answer }) =>
    answer.kind === 'failed' ? `${region}: ${answer.message}` : [],
  )
  return {
    complete: failures.length === 0,
    machines: lists.flatMap(({ region, answer }) =>
      answer.kind === 'ok' ? answer.value.filter(isThere).map((seen) => ownedOf(region, seen)) : [],
    ),
    ...(failures.length > 0 && { message: failures.join('; ') }),
  }
}

/** An OCID names one rental for ever; beside it stands the compartment in whose list it must be missing to be gone. */
export const machineOf = ({
  id,
  compartmentId,
}: Pick<SeenInstance, 'id' | 'compartmentId'>): LaunchedMachine => ({
  cloudId: id,
  rentalId: compartmentId,
})

const isThere = ({ state }: SeenInstance) => state !== 'TERMINATED'

const ownedOf = (region: string, seen: SeenInstance): OwnedMachine => ({
  region,
  instanceType: seen.shape,
  ...machineOf(seen),
  createdAt: seen.createdAt,
  ...(seen.mark === undefined ? { description: seen.name } : { mark: seen.mark, description: seen.mark }),
})
