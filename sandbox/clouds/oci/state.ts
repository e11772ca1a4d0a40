import * as z from 'zod'
import { loadStateFile } from '../state-file.ts'

/** Times in milliseconds of the clock that is handed in. */
const time = z.int()
const text = z.string()
const tags = z.record(z.string(), z.string())

const tenancy = z.object({
  id: text,
  name: text,
  /** What the names of its availability domains begin with. */
  domainPrefix: text,
  homeRegion: text,
  subscribedRegions: z.array(text),
})
export type Tenancy = z.infer<typeof tenancy>

const user = z.object({
  id: text,
  tenancyId: text,
  name: text,
  /** Public keys as PEM. */
  keys: z.array(z.object({ fingerprint: text, publicKey: text })),
})

/** The root compartment of a tenancy has the tenancy's id, and no parent. */
const compartment = z.object({
  id: text,
  tenancyId: text,
  parentId: text.nullable(),
  name: text,
  description: text,
  createdAt: time,
  activeAt: time,
  /** Other tenancies whose users may work in it. */
  sharedWith: z.array(text),
})
export type Compartment = z.infer<typeof compartment>

/** What one availability domain has of one shape. A shape without a row there is not offered to the tenancy. */
const stockRow = z.object({
  region: text,
  /** 1, 2 or 3. */
  domain: z.int(),
  shape: text,
  /** How many the service limits allow. */
  limit: z.int(),
  /** Hosts, free or rented. */
  onDemand: z.int(),
  preemptible: z.int(),
})
export type StockRow = z.infer<typeof stockRow>

const networkResource = z.object({
  kind: z.enum(['vcn', 'internetGateway', 'routeTable', 'subnet', 'networkSecurityGroup', 'securityList']),
  id: text,
  region: text,
  compartmentId: text,
  /** Itself for a VCN. */
  vcnId: text,
  displayName: text,
  createdAt: time,
  availableAt: time,
  freeformTags: tags,
  /** The fields that only its kind has, as they stand on the wire. */
  details: z.record(z.string(), z.json()),
  /** Of a network security group. */
  securityRules: z.array(z.record(z.string(), z.json())),
})
export type NetworkResource = z.infer<typeof networkResource>

const hardware = z.object({
  arch: z.enum(['x86_64', 'aarch64']),
  cpus: z.int(),
  threadsPerCore: z.int().optional(),
  memoryKib: z.int(),
  rootDiskBytes: z.int(),
  localDisks: z.array(text),
  gpus: z
    .object({
      vendor: z.enum(['nvidia', 'amd']),
      name: text,
      memoryMib: z.int(),
      count: z.int(),
      driverVersion: text,
    })
    .nullable(),
})

const vnic = z.object({
  id: text,
  attachmentId: text,
  isPrimary: z.boolean(),
  /** Before it there is no attachment. */
  attachingAt: time,
  /** Before it the attachment names no VNIC. */
  attachedAt: time,
  privateIp: text,
  publicIp: text.nullable(),
})
export type SimulatedVnic = z.infer<typeof vnic>

const instance = z.object({
  id: text,
  region: text,
  domain: z.int(),
  domainName: text,
  compartmentId: text,
  displayName: text,
  shape: text,
  imageId: text,
  subnetId: text,
  nsgIds: z.array(text),
  freeformTags: tags,
  metadata: z.record(z.string(), z.string()),
  preemptible: z.boolean(),
  bootVolumeGb: z.int(),
  legacyImdsDisabled: z.boolean(),
  createdAt: time,
  provisionedAt: time,
  runningAt: time,
  /** It is accepted, and comes to nothing then. */
  failure: z.object({ at: time, code: text, message: text }).nullable(),
  /** Termination was asked for, or its host was taken away. */
  endedAt: time.nullable(),
  terminatedAt: time.nullable(),
  interrupted: z.boolean(),
  workRequestId: text,
  vnics: z.array(vnic),
  /** Millionths of a US dollar. */
  pricePerHourMicros: z.int(),
  hardware,
  sshTrouble: z.array(z.enum(['refuse', 'hang', 'reject_key'])),
  /** Its machine is powered on. */
  isOn: z.boolean(),
})
export type SimulatedInstance = z.infer<typeof instance>

const cloudState = z.object({
  /** How many OCIDs were given out. */
  ocids: z.int(),
  /** Of the API key that comes with the sandbox, as PEM. */
  privateKey: text,
  /** With which the cloud signs session tokens and agreements. */
  secret: text,
  tenancies: z.array(tenancy),
  users: z.array(user),
  compartments: z.array(compartment),
  sessions: z.array(z.object({ id: text, userId: text, endsAt: time, publicKey: text })),
  stock: z.array(stockRow),
  network: z.array(networkResource),
  acceptedAgreements: z.array(
    z.object({
      id: text,
      region: text,
      displayName: text,
      compartmentId: text,
      listingId: text,
      packageVersion: text,
      agreementId: text,
      acceptedAt: time,
    }),
  ),
  instances: z.array(instance),
  retryTokens: z.array(z.object({ scope: text, token: text, payload: text, id: text, at: time })),
})
export type CloudState = z.infer<typeof cloudState>

export const loadState = (file: string): CloudState | undefined => loadStateFile(file, cloudState)
