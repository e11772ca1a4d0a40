import * as z from 'zod'
import type { Clock } from '../../../lib/model/clock.ts'
import { bodyOf, type Call } from './call.ts'
import { imageIdOf, isIn, listingIdOf, type SimulatedListing } from './images.ts'
import type { Order } from './instances.ts'
import type { Network } from './network.ts'
import type { Places } from './places.ts'
import { incorrectState, invalid, limitExceeded, notFound, outOfHostCapacity } from './refusal.ts'
import { shapes } from './shapes.ts'
import type { CloudState, Compartment } from './state.ts'
import { freeHosts, freeLimit, rowOf } from './stock.ts'

/** What `launchInstance` asks for, once everything about it is in order; throws what OCI refuses it with. */
export const createLaunchCheck = (parts: {
  state: CloudState
  clock: Clock
  places: Places
  network: Network
  listings: SimulatedListing[]
}) => {
  const { state, clock, places, network, listings } = parts

  const imageOf = (region: string, compartment: Compartment, imageId: string): SimulatedListing => {
    const image = listings.find((listing) => isIn(listing, region) && imageIdOf(listing, region) === imageId)
    if (!image) throw notFound()
    const accepted = state.acceptedAgreements.filter(
      (row) => row.compartmentId === compartment.id && row.listingId === listingIdOf(image, region),
    )
    // An image of the Marketplace can't be seen by a compartment that did not accept its terms.
    const isAccepted = (id: string) => accepted.some((row) => row.agreementId === id)
    if (!image.agreements.every(isAccepted)) throw notFound()
    return image
  }

  const subnetOf = (call: Call, id: string, nsgIds: string[]) => {
    const subnet = network.find(call, 'subnet', id)
    if (clock.now() < subnet.availableAt) throw incorrectState('the subnet is not AVAILABLE')
    for (const nsgId of nsgIds) {
      const group = network.find(call, 'networkSecurityGroup', nsgId)
      if (group.vcnId !== subnet.vcnId) throw invalid('nsgIds: the group is of another VCN than the subnet')
    }
    return subnet
  }

  /** Throws where the service limits or the hosts don't suffice. */
  const checkRoom = (order: Order) => {
    const row = rowOf(state, order)
    const limit = `${order.shape.toLowerCase().replaceAll('.', '-')}-count`
    if (!row || freeLimit(state, row, clock.now()) <= 0) throw limitExceeded(limit)
    const hosts = freeHosts(state, row, order.preemptible ? 'preemptible' : 'onDemand', clock.now())
    if (hosts <= 0) throw outOfHostCapacity()
  }

  return (call: Call): Order => {
    const asked = bodyOf(call, launchDetails)
    const compartment = places.compartment(call.caller, asked.compartmentId)
    const domain = places.domain(call.region, compartment, asked.availabilityDomain)
    const shape = shapes[asked.shape]
    if (!shape) throw invalid(`shape: '${asked.shape}' is not a shape`)
    const preemptible = asked.preemptibleInstanceConfig !== undefined
    if (preemptible && !shape.preemptible) {
      throw invalid(`preemptibleInstanceConfig: ${asked.shape} can't be preemptible`)
    }
    const imageId = asked.sourceDetails.imageId
    const image = imageOf(call.region, compartment, imageId)
    if (shape.arch !== 'x86_64') throw invalid(`Shape ${asked.shape} is not valid for image ${imageId}.`)

    const nsgIds = asked.createVnicDetails?.nsgIds ?? []
    const subnetId = asked.createVnicDetails?.subnetId ?? asked.subnetId
    if (subnetId === undefined) throw invalid('createVnicDetails.subnetId: must be provided')
    const subnet = subnetOf(call, subnetId, nsgIds)
    const isPrivate = subnet.details.prohibitPublicIpOnVnic === true
    const asksForPublicIp = asked.createVnicDetails?.assignPublicIp
    if (isPrivate && asksForPublicIp) throw invalid('assignPublicIp: the subnet is private')

    const order: Order = {
      region: call.region,
      domain,
      domainName: asked.availabilityDomain,
      compartmentId: compartment.id,
      displayName: asked.displayName ?? `instance${new Date(clock.now()).toISOString()}`,
      shape: asked.shape,
      imageId,
      image,
      subnetId,
      nsgIds,
      freeformTags: asked.freeformTags,
      metadata: asked.metadata,
      preemptible,
      bootVolumeGb: asked.sourceDetails.bootVolumeSizeInGBs,
      legacyImdsDisabled: asked.instanceOptions?.areLegacyImdsEndpointsDisabled ?? false,
      wantsPublicIp: asksForPublicIp ?? !isPrivate,
    }
    checkRoom(order)
    return order
  }
}

/** Keys without spaces and periods. Source: Oracle's documentation of free-form tags. */
export const freeformTags = z
  .record(z.string().regex(/^[\x21-\x2d\x2f-\x7e]{1,100}$/), z.string().max(256))
  .refine((tags) => Object.keys(tags).length <= 10, 'a resource can have 10 free-form tags')
  .default({})

const isBase64 = (text: string) => Buffer.from(text, 'base64').toString('base64') === text

const metadata = z
  .record(z.string(), z.string())
  .refine((entries) => JSON.stringify(entries).length <= 32_000, 'metadata can be 32000 bytes at most')
  .refine(({ user_data: data }) => data === undefined || isBase64(data), 'user_data must be base64')
  .default({})

const launchDetails = z.object({
  availabilityDomain: z.string(),
  compartmentId: z.string(),
  shape: z.string(),
  displayName: z.string().max(255).optional(),
  subnetId: z.string().optional(),
  sourceDetails: z.object({
    sourceType: z.literal('image'),
    imageId: z.string(),
    bootVolumeSizeInGBs: z.int().min(50).max(32_768).default(50),
  }),
  createVnicDetails: z
    .object({
      subnetId: z.string().optional(),
      assignPublicIp: z.boolean().optional(),
      nsgIds: z.array(z.string()).max(5).optional(),
    })
    .optional(),
  freeformTags,
  metadata,
  instanceOptions: z.object({ areLegacyImdsEndpointsDisabled: z.boolean().optional() }).optional(),
  preemptibleInstanceConfig: z
    .object({
      preemptionAction: z.object({
        type: z.literal('TERMINATE'),
        preserveBootVolume: z.boolean().optional(),
      }),
    })
    .optional(),
})
