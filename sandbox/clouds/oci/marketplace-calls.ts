import { createHmac } from 'node:crypto'
import * as z from 'zod'
import type { Clock } from '../../../lib/model/clock.ts'
import { bodyOf, type Call, fits, type Handler, needed, pageOf, type Reply } from './call.ts'
import { imageIdOf, isIn, listingIdOf, type SimulatedListing } from './images.ts'
import type { Operation } from './operations.ts'
import type { Places } from './places.ts'
import { invalid, notFound } from './refusal.ts'
import type { CloudState } from './state.ts'
import type { Switches } from './switches.ts'
import { timeBody } from './wire.ts'

/** Listings, their packages, and the agreements that must be accepted before an image may be used. */
export const createMarketplaceCalls = (parts: {
  state: CloudState
  clock: Clock
  places: Places
  listings: SimulatedListing[]
  switches: Switches
}) => {
  const { state, clock, places, switches } = parts

  const here = (call: Call) => parts.listings.filter((listing) => isIn(listing, call.region))

  const listingOf = (call: Call): SimulatedListing => {
    const compartmentId = call.query.get('compartmentId')
    if (compartmentId !== null) places.compartment(call.caller, compartmentId)
    const found = here(call).find((listing) => listingIdOf(listing, call.region) === call.names.listingId)
    if (!found) throw notFound()
    const { packageVersion } = call.names
    if (packageVersion !== undefined && packageVersion !== found.version) throw notFound()
    return found
  }

  const summary = (call: Call, listing: SimulatedListing) => ({
    id: listingIdOf(listing, call.region),
    name: listing.name,
    shortDescription: 'an image of the sandbox',
    packageType: 'IMAGE',
    pricingTypes: ['FREE'],
    compatibleArchitectures: ['X86'],
    listingType: 'COMMUNITY',
    isFeatured: false,
    publisher: { id: 'ocid1.publisher.oc1..sandbox', name: 'sandbox' },
  })

  const signatureOf = (call: Call, listingId: string, version: string, agreementId: string) =>
    createHmac('sha256', state.secret)
      .update([call.caller.tenancyId, listingId, version, agreementId].join(' '))
      .digest('base64url')

  const acceptedBody = (row: CloudState['acceptedAgreements'][number]) => ({
    id: row.id,
    displayName: row.displayName,
    compartmentId: row.compartmentId,
    listingId: row.listingId,
    packageVersion: row.packageVersion,
    agreementId: row.agreementId,
    timeAccepted: timeBody(row.acceptedAt),
    freeformTags: {},
    definedTags: {},
  })

  const createAcceptedAgreement = (call: Call): Reply => {
    const asked = bodyOf(call, acceptance)
    places.compartment(call.caller, asked.compartmentId)
    const listing = here(call).find((candidate) => listingIdOf(candidate, call.region) === asked.listingId)
    if (!listing || listing.version !== asked.packageVersion) throw notFound()
    if (!listing.agreements.includes(asked.agreementId)) throw notFound()
    const signature = signatureOf(call, asked.listingId, asked.packageVersion, asked.agreementId)
    if (asked.signature !== signature) throw invalid('signature: is not the one of this agreement')
    const known = state.acceptedAgreements.find(
      (row) =>
        row.compartmentId === asked.compartmentId &&
        row.listingId === asked.listingId &&
        row.packageVersion === asked.packageVersion &&
        row.agreementId === asked.agreementId,
    )
    if (known) return { body: acceptedBody(known) }
    const { signature: _, displayName = `${listing.name} ${asked.agreementId}`, ...rest } = asked
    const id = places.ocid('mktpublishingacceptedagreement', call.region)
    const accepted = { ...rest, id, region: call.region, displayName, acceptedAt: clock.now() }
    state.acceptedAgreements.push(accepted)
    return { body: acceptedBody(accepted) }
  }

  return {
    // A name finds everything that it is a part of.
    listListings: (call) => {
      const names = call.query.getAll('name').map((name) => name.toLowerCase())
      const types = call.query.getAll('listingTypes').flatMap((value) => value.split(','))
      const rows = here(call)
        .filter(({ name }) => names.length === 0 || names.some((part) => name.toLowerCase().includes(part)))
        .filter(() => types.length === 0 || types.includes('COMMUNITY'))
        .map((listing) => summary(call, listing))
      return pageOf(call, rows, switches)
    },

    getListing: (call) => {
      const listing = listingOf(call)
      return {
        body: { ...summary(call, listing), version: listing.version, defaultPackageVersion: listing.version },
      }
    },

    getPackage: (call) => {
      const listing = listingOf(call)
      return {
        body: {
          listingId: listingIdOf(listing, call.region),
          version: listing.version,
          packageType: 'IMAGE',
          description: listing.name,
          pricing: { type: 'FREE' },
          resourceId: imageIdOf(listing, call.region),
          imageId: imageIdOf(listing, call.region),
          timeCreated: timeBody(0),
        },
      }
    },

    listAgreements: (call) => {
      const rows = listingOf(call).agreements.map(agreementBody)
      return pageOf(call, rows, switches)
    },

    getAgreement: (call) => {
      const listing = listingOf(call)
      const { agreementId = '', listingId = '', packageVersion = '' } = call.names
      if (!listing.agreements.includes(agreementId)) throw notFound()
      const signature = signatureOf(call, listingId, packageVersion, agreementId)
      return { body: { ...agreementBody(agreementId), signature } }
    },

    listAcceptedAgreements: (call) => {
      const compartment = places.compartment(call.caller, needed(call, 'compartmentId'))
      const rows = state.acceptedAgreements
        .filter(
          (row) =>
            row.region === call.region &&
            row.compartmentId === compartment.id &&
            fits(call, 'listingId', row.listingId) &&
            fits(call, 'packageVersion', row.packageVersion),
        )
        .map(acceptedBody)
      return pageOf(call, rows, switches)
    },

    createAcceptedAgreement,
  } satisfies Partial<Record<Operation, Handler>>
}

const agreementBody = (id: string) => ({
  id,
  contentUrl: `https://example.com/agreements/${id}`,
  author: id.startsWith('oracle') ? 'ORACLE' : 'PARTNER',
  prompt: 'I have reviewed and accept the terms',
})

const acceptance = z.object({
  displayName: z.string().optional(),
  compartmentId: z.string(),
  listingId: z.string(),
  packageVersion: z.string(),
  agreementId: z.string(),
  signature: z.string(),
})
