import type { Clock } from '../../model/clock.ts'
import type { MachineRef, MachineState } from '../backend.ts'
import { type Answer, after, type Failure, failed, isSilence, ok } from './answer.ts'
import type { Api } from './api.ts'
import { getInstance, listInstances, releasedTag, type SeenInstance } from './instances.ts'
import { launchFailureOf } from './launch-failure.ts'
import type { Places } from './places.ts'

/** How long a machine may be that no call shows. One that ended is listed for longer than that. */
const newForMs = 300_000

type Parts = { api: Api; places: Places; clock: Clock }
type Reach = Parts & { sshPort: number }

/** Where a machine stands. */
export const stateOf = async (parts: Reach, ref: MachineRef): Promise<MachineState> => {
  const found = await findInstance(parts, ref)
  if (found.kind === 'failed') return unknown(found)
  const seen = found.value
  if (seen === undefined) return { state: 'gone', interrupted: false }
  switch (seen.state) {
    case 'RUNNING':
      return addressOf(parts, ref, seen)
    case 'TERMINATING':
      return { state: 'stopping' }
    case 'TERMINATED':
      return goneState(parts, ref, seen)
    case 'STOPPING':
    case 'STOPPED':
      return { state: 'failed', message: `${ref.cloudId} was stopped; it still costs money in most shapes` }
    default:
      return { state: 'starting', progress: seen.state.toLowerCase() }
  }
}

/**
 * The instance, or undefined where it is proved to be gone. A 404 alone proves nothing: OCI sends it to whoever may not
 * look, too. It is believed when the whole list can be had with the same credentials, and the instance is not on it.
 */
export const findInstance = async (
  { api, places, clock }: Parts,
  ref: Pick<MachineRef, 'region' | 'cloudId' | 'rentalId' | 'rentedAt'>,
): Promise<Answer<SeenInstance | undefined>> => {
  const answer = await getInstance(api, ref.region, ref.cloudId)
  if (answer.kind === 'ok' || answer.status !== 404) return answer
  // The compartment that it was rented in, whatever the settings name now.
  const compartment = ref.rentalId === undefined ? await compartmentOf(places) : ok(ref.rentalId)
  const listing = await after(compartment, (id) => listInstances(api, ref.region, id))
  if (listing.kind === 'failed') {
    const message = `${ref.cloudId} is not shown, which proves nothing while the list can't be had: ${listing.message}`
    return { ...listing, message }
  }
  const seen = listing.value.find(({ id }) => id === ref.cloudId)
  if (seen === undefined && ref.rentedAt !== undefined && clock.now() - ref.rentedAt < newForMs)
    return failed(undefined, 'NotShownYet', `${ref.cloudId} is new, and not shown yet`)
  return ok(seen)
}

const goneState = async (
  { api }: Pick<Parts, 'api'>,
  { region }: MachineRef,
  seen: SeenInstance,
): Promise<MachineState> => {
  if (releasedTag in seen.tags) return { state: 'gone', interrupted: false }
  const failure = await launchFailureOf(api, region, seen)
  // The next look may tell whether it ran, which decides whether another is rented in its place.
  if (failure.kind === 'failed' && isSilence(failure)) return unknown(failure)
  const neverRan = failure.kind === 'ok' ? failure.value : undefined
  if (neverRan !== undefined) return { state: 'gone', interrupted: false, neverRan }
  return { state: 'gone', interrupted: seen.preemptible }
}

const addressOf = async (
  { api, sshPort }: Reach,
  { region }: MachineRef,
  { id: instanceId, compartmentId }: SeenInstance,
): Promise<MachineState> => {
  const attachments = await api.list('VNIC attachments', region, ({ compute }, page) =>
    compute.listVnicAttachments({ compartmentId, instanceId, ...(page !== undefined && { page }) }),
  )
  if (attachments.kind === 'failed') return unknown(attachments)
  const attached = attachments.value.flatMap(({ lifecycleState, vnicId }) =>
    String(lifecycleState) === 'ATTACHED' && vnicId ? [vnicId] : [],
  )
  for (const vnicId of attached) {
    const vnic = await api.ask('VNIC', region, async ({ network }) => {
      const { isPrimary, publicIp } = (await network.getVnic({ vnicId })).vnic
      return { isPrimary: isPrimary === true, publicIp }
    })
    if (vnic.kind === 'failed') return unknown(vnic)
    const { isPrimary, publicIp } = vnic.value
    if (!isPrimary) continue
    if (!publicIp) return { state: 'starting', progress: 'waiting for a public address' }
    return { state: 'running', address: { hostname: publicIp, port: sshPort, username: 'ubuntu' } }
  }
  return { state: 'starting', progress: 'waiting for its network interface' }
}

const unknown = ({ message, retryAfterMs }: Failure): MachineState => ({
  state: 'unknown',
  message,
  retryAfterMs,
})

/** In which a machine was rented, where its record does not say so. */
export const compartmentOf = async (places: Places): Promise<Answer<string>> =>
  after(await places.compartment(), (id) =>
    id === undefined ? failed(404, 'NoCompartment', "Berth's compartment is not there") : ok(id),
  )
