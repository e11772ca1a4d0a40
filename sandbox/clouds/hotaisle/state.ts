import * as z from 'zod'
import { loadStateFile } from '../state-file.ts'

const specs = z.record(z.string(), z.json())

/** One row of what can be rented. Prices in US cents an hour for the whole machine. */
const stockRow = z.object({
  kind: z.enum(['vm', 'bm']),
  quantity: z.int(),
  pricePerHourCents: z.int().optional(),
  minimumMinutes: z.int(),
  specs,
})
export type StockRow = z.infer<typeof stockRow>

const hardware = z.object({
  arch: z.enum(['x86_64', 'aarch64']),
  cpus: z.int(),
  memoryKib: z.int(),
  rootDiskBytes: z.int(),
  localDisks: z.array(z.string()),
  gpus: z
    .object({
      vendor: z.enum(['nvidia', 'amd']),
      name: z.string(),
      memoryMib: z.int(),
      count: z.int(),
      driverVersion: z.string(),
    })
    .nullable(),
})

/** One rental from its create on; it stays when it has ended, since it was charged for. Times in milliseconds. */
const rental = z.object({
  kind: z.enum(['vm', 'bm']),
  name: z.string(),
  deploymentId: z.string(),
  description: z.string(),
  specs,
  pricePerHourCents: z.int(),
  minimumMinutes: z.int(),
  startedAt: z.int(),
  /** It was given back: no more is charged. */
  endedAt: z.int().nullable(),
  /** When its reset is done and it is no longer shown. */
  goneAt: z.int().nullable(),
  /** Start of the boot or of the latest installation, and how long that takes. */
  installingSince: z.int(),
  installMs: z.int(),
  /** So many installations will still fail. */
  installFails: z.int(),
  authorizedKeys: z.array(z.string()),
  sshTrouble: z.array(z.enum(['refuse', 'hang', 'reject_key'])),
  hardware,
  /** Set while its machine is powered on. */
  address: z.object({ hostname: z.string(), port: z.int() }).nullable(),
})
export type SimulatedRental = z.infer<typeof rental>

const account = z.object({
  /** Roles of the API key in the team, and on the user: only `owner` may add SSH keys. */
  roles: z.array(z.enum(['owner', 'purchaser', 'operator', 'user'])),
  userRole: z.enum(['owner', 'user']),
  maximumVirtualMachines: z.int(),
  maximumBareMetalServers: z.int(),
  /** What was paid in, in US cents; charges are taken from it as it is read. */
  creditCents: z.int(),
  /** OpenSSH public keys. */
  sshKeys: z.array(z.string()),
})
export type SimulatedAccount = z.infer<typeof account>

const cloudState = z.object({
  account,
  stock: z.array(stockRow),
  rentals: z.array(rental),
})
export type CloudState = z.infer<typeof cloudState>

export const loadState = (file: string): CloudState | undefined => loadStateFile(file, cloudState)
