import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AuthenticationDetailsProvider, OciError, SimpleAuthenticationDetailsProvider } from 'oci-common'
import { ComputeClient, models, VirtualNetworkClient } from 'oci-core'
import { IdentityClient } from 'oci-identity'
import { MarketplaceClient } from 'oci-marketplace'
import { vi } from 'vitest'
import * as z from 'zod'
import { newKeyPair } from '../../sandbox/clouds/oci/key-pair.ts'
import {
  type SimulatedOci,
  type SimulatedOciOptions,
  startSimulatedOci,
} from '../../sandbox/clouds/oci/simulated-oci.ts'
import { createMachinesInMemory } from '../fakes/machines-in-memory.ts'
import { createManualClock } from '../fakes/manual-clock.ts'

// The SDK writes every refusal to the console as well.
vi.spyOn(console, 'warn').mockImplementation(() => {})

/** Making a key takes a while, so one does for all. */
const { privateKey } = newKeyPair()

export const frankfurt = 'eu-frankfurt-1'
export const domains = [1, 2, 3].map((n) => `kIdk:EU-FRANKFURT-1-AD-${n}`)
export const second = 1000
export const minute = 60 * second

export type OciStage = Awaited<ReturnType<typeof setUpOci>>

/** A simulated OCI on a file, and Oracle's own clients for it. `tearDown` leaves nothing. */
export const setUpOci = async ({
  saved,
  ...options
}: Partial<SimulatedOciOptions> & { saved?: string } = {}) => {
  const clock = createManualClock()
  const folder = mkdtempSync(join(tmpdir(), 'berth-oci-'))
  const stateFile = join(folder, 'oci.json')
  if (saved !== undefined) writeFileSync(stateFile, saved)
  const start = (machines: ReturnType<typeof createMachinesInMemory>) =>
    startSimulatedOci({ clock, machines, stateFile, privateKey, ...options })
  const machines = createMachinesInMemory()
  const cloud = await start(machines)
  const stage = { clock, machines, cloud, stateFile }
  return Object.assign(stage, {
    /** Starts the cloud again on its file; all machines are off. */
    async restart() {
      await stage.cloud.stop()
      stage.machines = createMachinesInMemory()
      stage.cloud = await start(stage.machines)
    },
    clients: (signIn: Partial<SignIn> = {}, region?: string) => clientsOf(stage.cloud, signIn, region),
    /** Everything that a launch needs, in one compartment: network, and the agreements of the image. */
    prepare: (compartmentId = stage.cloud.compartmentId) =>
      prepareLaunch(clientsOf(stage.cloud), compartmentId),
    async tearDown() {
      await stage.cloud.stop()
      rmSync(folder, { recursive: true })
    },
  })
}

/**
 * What a launch needs, and the state file of a cloud that has it, for many stages to begin with: some fifteen signed
 * calls take a while.
 */
export const prepareOnce = async (options: Partial<SimulatedOciOptions> = {}) => {
  const stage = await setUpOci(options)
  const prepared = await stage.prepare()
  const saved = readFileSync(stage.stateFile, 'utf8')
  await stage.tearDown()
  return { ...prepared, saved }
}

export type SignIn = {
  tenancyId: string
  userId: string
  fingerprint: string
  privateKey: string
  /** Signs with a session token in place of a user's key. */
  token: string
}

export const providerOf = (cloud: SimulatedOci, signIn: Partial<SignIn>): AuthenticationDetailsProvider => {
  const known = { ...cloud.credentials, ...signIn }
  const { token } = signIn
  if (token === undefined) {
    const { tenancyId, userId, fingerprint } = known
    return new SimpleAuthenticationDetailsProvider(tenancyId, userId, fingerprint, known.privateKey, null)
  }
  return {
    getKeyId: async () => `ST$${token}`,
    getPrivateKey: () => known.privateKey,
    getPassphrase: () => null,
  }
}

export type Clients = ReturnType<typeof clientsOf>

const clientsOf = (cloud: SimulatedOci, signIn: Partial<SignIn> = {}, region = frankfurt) => {
  const authenticationDetailsProvider = providerOf(cloud, signIn)
  const endpointOf = (service: string) =>
    cloud.endpoint.replace('{service}', service).replace('{region}', region)
  const compute = new ComputeClient({ authenticationDetailsProvider })
  const network = new VirtualNetworkClient({ authenticationDetailsProvider })
  const identity = new IdentityClient({ authenticationDetailsProvider })
  const marketplace = new MarketplaceClient({ authenticationDetailsProvider })
  compute.endpoint = endpointOf('compute')
  network.endpoint = endpointOf('network')
  identity.endpoint = endpointOf('identity')
  marketplace.endpoint = endpointOf('marketplace')
  return { compute, network, identity, marketplace }
}

/** The refusal with which a call ended. */
export const refusalOf = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof OciError)) throw error ?? new Error('it was not refused')
  return { status: error.statusCode, code: error.serviceCode, message: error.message }
}

/** Makes a network that reaches the internet, accepts the image's agreements, and gives a launch's details. */
const prepareLaunch = async ({ network, marketplace }: Clients, compartmentId: string) => {
  const { vcn } = await network.createVcn({
    createVcnDetails: { compartmentId, cidrBlocks: ['10.0.0.0/16'], displayName: 'net' },
  })
  const { internetGateway } = await network.createInternetGateway({
    createInternetGatewayDetails: { compartmentId, vcnId: vcn.id, isEnabled: true },
  })
  await network.updateRouteTable({
    rtId: vcn.defaultRouteTableId ?? '',
    updateRouteTableDetails: { routeRules: [defaultRoute(internetGateway.id)] },
  })
  const { subnet } = await network.createSubnet({
    createSubnetDetails: { compartmentId, vcnId: vcn.id, cidrBlock: '10.0.0.0/24', displayName: 'sub' },
  })
  const imageId = await acceptImage(marketplace, compartmentId, 'dstack-cuda-0.14')
  return {
    vcn,
    subnet,
    internetGateway,
    details: {
      availabilityDomain: domains[0] ?? '',
      compartmentId,
      shape: 'VM.GPU.A10.1',
      displayName: 'machine',
      sourceDetails: { sourceType: 'image', imageId, bootVolumeSizeInGBs: 100 },
      createVnicDetails: { subnetId: subnet.id, assignPublicIp: true },
      freeformTags: { owner: 'berth' },
      metadata: { ssh_authorized_keys: 'ssh-ed25519 AAAA key' },
    },
  }
}

export const defaultRoute = (networkEntityId: string) => ({
  networkEntityId,
  destination: '0.0.0.0/0',
  destinationType: models.RouteRule.DestinationType.CidrBlock,
})

/** Accepts what the listing of that exact name asks for, or only so many of its agreements; its image. */
export const acceptImage = async (
  marketplace: MarketplaceClient,
  compartmentId: string,
  name: string,
  count = Number.POSITIVE_INFINITY,
) => {
  const { items } = await marketplace.listListings({ name: [name], compartmentId })
  const listingId = items.find((listing) => listing.name === name)?.id ?? ''
  const { listing } = await marketplace.getListing({ listingId, compartmentId })
  const packageVersion = listing.defaultPackageVersion ?? ''
  const agreements = await marketplace.listAgreements({ listingId, packageVersion, compartmentId })
  for (const { id: agreementId = '' } of agreements.items.slice(0, count)) {
    const { agreement } = await marketplace.getAgreement({ listingId, packageVersion, agreementId })
    const { signature } = agreement
    await marketplace.createAcceptedAgreement({
      createAcceptedAgreementDetails: { compartmentId, listingId, packageVersion, agreementId, signature },
    })
  }
  const { listingPackage } = await marketplace.getPackage({ listingId, packageVersion, compartmentId })
  return z.object({ imageId: z.string() }).parse(listingPackage).imageId
}
