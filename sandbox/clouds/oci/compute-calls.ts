import * as z from 'zod'
import type { Clock } from '../../../lib/model/clock.ts'
import { bodyOf, type Call, fits, type Handler, needed, pageOf, type Reply } from './call.ts'
import { imageIdOf, isIn, type SimulatedListing } from './images.ts'
import type { Instances, Order } from './instances.ts'
import { attachmentsOf, isShown, lifecycleOf } from './lifecycle.ts'
import type { Operation } from './operations.ts'
import type { Places } from './places.ts'
import { incorrectState, notFound, Refusal } from './refusal.ts'
import type { RetryTokens } from './retry-tokens.ts'
import { isBareMetal, shapeBody, shapes } from './shapes.ts'
import type { CloudState, SimulatedInstance } from './state.ts'
import { freeHosts, rowOf } from './stock.ts'
import type { Switches } from './switches.ts'
import { attachmentBody, instanceBody, timeBody, vnicBody } from './wire.ts'
import { endIdOf } from './work-request-calls.ts'

/** Shapes, capacity, instances and their addresses. */
export const createComputeCalls = (parts: {
  state: CloudState
  clock: Clock
  places: Places
  instances: Instances
  checkLaunch: (call: Call) => Order
  retryTokens: RetryTokens
  listings: SimulatedListing[]
  switches: Switches
}) => {
  const { state, clock, places, instances, retryTokens, switches } = parts

  const seenIn = (call: Call, compartmentId: string) =>
    state.instances.filter(
      (instance) =>
        instance.region === call.region &&
        instance.compartmentId === compartmentId &&
        isShown(instance, clock.now()),
    )

  /** Throws 404 for one that is not there, not shown any more, or not for this caller. */
  const instanceOf = (call: Call, id: string): SimulatedInstance => {
    const found = state.instances.find((instance) => instance.id === id && instance.region === call.region)
    if (!found) throw notFound()
    places.compartment(call.caller, found.compartmentId)
    if (!isShown(found, clock.now())) throw notFound()
    return found
  }

  const shown = (instance: SimulatedInstance): Reply => ({
    body: instanceBody(instance, clock.now()),
    headers: { 'opc-work-request-id': instance.workRequestId },
  })

  const launchInstance = (call: Call): Reply => {
    const id = retryTokens.once(call, () => instances.create(parts.checkLaunch(call)).id)
    const instance = state.instances.find((candidate) => candidate.id === id)
    if (!instance || !isShown(instance, clock.now())) {
      throw new Refusal(409, 'InvalidatedRetryToken', 'The resource that was made with this token is gone.')
    }
    return shown(instance)
  }

  const updateInstance = (call: Call): Reply => {
    const instance = instanceOf(call, call.names.instanceId ?? '')
    const { displayName, freeformTags: tags } = bodyOf(call, instanceUpdate)
    if (['TERMINATING', 'TERMINATED'].includes(lifecycleOf(instance, clock.now()))) {
      throw incorrectState('the instance is being terminated')
    }
    if (displayName !== undefined) instance.displayName = displayName
    if (tags !== undefined) instance.freeformTags = tags
    return shown(instance)
  }

  const terminateInstance = async (call: Call): Promise<Reply> => {
    const instance = instanceOf(call, call.names.instanceId ?? '')
    const lifecycle = lifecycleOf(instance, clock.now())
    if (lifecycle === 'TERMINATED') throw notFound()
    if (lifecycle === 'PROVISIONING' && switches.noTerminationWhileProvisioning) {
      throw incorrectState('the instance is being provisioned')
    }
    await instances.terminate(instance)
    return { status: 204, headers: { 'opc-work-request-id': endIdOf(instance) } }
  }

  const listShapes = (call: Call): Reply => {
    const compartment = places.compartment(call.caller, needed(call, 'compartmentId'))
    const named = call.query.get('availabilityDomain')
    const domain = named === null ? undefined : places.domain(call.region, compartment, named)
    const isListed = (shape: string) =>
      state.stock.some(
        (row) =>
          row.region === call.region &&
          row.shape === shape &&
          row.limit > 0 &&
          (domain === undefined || row.domain === domain),
      )
    const rows = Object.entries(shapes)
      .filter(([name]) => isListed(name) && fits(call, 'shape', name))
      .map(([name, shape]) => shapeBody(name, shape))
    return pageOf(call, rows, switches)
  }

  const createComputeCapacityReport = (call: Call): Reply => {
    const asked = bodyOf(call, capacityReport)
    const compartment = places.compartment(call.caller, asked.compartmentId)
    const domain = places.domain(call.region, compartment, asked.availabilityDomain)
    const shapeAvailabilities = asked.shapeAvailabilities.map(({ instanceShape }) => {
      const row = rowOf(state, { region: call.region, domain, shape: instanceShape })
      const free = row ? freeHosts(state, row, 'onDemand', clock.now()) : 0
      const isThere = switches.capacityReportsLie ? free <= 0 : free > 0
      const absent = row ? 'OUT_OF_HOST_CAPACITY' : 'HARDWARE_NOT_SUPPORTED'
      const isCounted =
        switches.capacityCounts === 'all' ||
        (switches.capacityCounts === 'vms' && isThere && !isBareMetal(instanceShape))
      return {
        faultDomain: null,
        instanceShape,
        instanceShapeConfig: null,
        availableCount: isCounted ? Math.max(isThere ? 1 : 0, free) : null,
        availabilityStatus: isThere ? 'AVAILABLE' : absent,
      }
    })
    return {
      body: {
        compartmentId: compartment.id,
        availabilityDomain: asked.availabilityDomain,
        shapeAvailabilities,
        timeCreated: timeBody(clock.now()),
      },
    }
  }

  const attachmentsIn = (call: Call, compartmentId: string) =>
    seenIn(call, places.compartment(call.caller, compartmentId).id).flatMap((instance) =>
      attachmentsOf(instance, clock.now()).map((attachment) => ({ ...attachment, instance })),
    )

  const vnicIn = (call: Call, isMeant: (ids: { vnicId: string; attachmentId: string }) => boolean) => {
    for (const instance of state.instances.filter(({ region }) => region === call.region)) {
      for (const { vnic, state } of attachmentsOf(instance, clock.now())) {
        if (!isMeant({ vnicId: vnic.id, attachmentId: vnic.attachmentId })) continue
        return { instance: instanceOf(call, instance.id), vnic, state }
      }
    }
    throw notFound()
  }

  return {
    launchInstance,
    updateInstance,
    terminateInstance,
    getInstance: (call) => shown(instanceOf(call, call.names.instanceId ?? '')),
    listInstances: (call) => {
      const compartment = places.compartment(call.caller, needed(call, 'compartmentId'))
      const rows = seenIn(call, compartment.id)
        .map((instance) => instanceBody(instance, clock.now()))
        .filter(
          (row) =>
            fits(call, 'availabilityDomain', row.availabilityDomain) &&
            fits(call, 'displayName', row.displayName) &&
            fits(call, 'lifecycleState', row.lifecycleState),
        )
      return pageOf(call, rows, switches)
    },
    listShapes,
    createComputeCapacityReport,
    getImage: (call) => {
      const image = parts.listings.find(
        (listing) => isIn(listing, call.region) && imageIdOf(listing, call.region) === call.names.imageId,
      )
      if (!image) throw notFound()
      return {
        body: {
          id: call.names.imageId,
          compartmentId: null,
          createImageAllowed: true,
          displayName: image.name,
          lifecycleState: 'AVAILABLE',
          operatingSystem: 'Canonical Ubuntu',
          operatingSystemVersion: '22.04',
          sizeInMBs: 47_694,
          timeCreated: timeBody(0),
        },
      }
    },
    listVnicAttachments: (call) => {
      const rows = attachmentsIn(call, needed(call, 'compartmentId'))
        .filter(({ instance }) => fits(call, 'instanceId', instance.id))
        .map(({ instance, vnic, state }) => attachmentBody(instance, vnic, state))
      return pageOf(call, rows, switches)
    },
    getVnicAttachment: (call) => {
      const { vnicAttachmentId } = call.names
      const { instance, vnic, state } = vnicIn(call, ({ attachmentId }) => attachmentId === vnicAttachmentId)
      return { body: attachmentBody(instance, vnic, state) }
    },
    getVnic: (call) => {
      const { instance, vnic, state } = vnicIn(call, ({ vnicId }) => vnicId === call.names.vnicId)
      if (state !== 'ATTACHED') throw notFound()
      return { body: vnicBody(instance, vnic) }
    },
  } satisfies Partial<Record<Operation, Handler>>
}

const instanceUpdate = z.object({
  displayName: z.string().max(255).optional(),
  freeformTags: z.record(z.string(), z.string()).optional(),
})

const capacityReport = z.object({
  compartmentId: z.string(),
  availabilityDomain: z.string(),
  shapeAvailabilities: z
    .array(z.object({ instanceShape: z.string() }))
    .min(1)
    // Not in the documentation; more are refused.
    .max(10, 'at most 10 shapes can be asked for at a time'),
})
