import * as z from 'zod'
import { createRequest, offersQuery } from '../lib/model/request.ts'
import type { ShownOffer } from './answers.ts'
import { machineOptions, spotPolicyOf } from './offer.ts'
import { publicKeys, sshKeyOption } from './ssh-keys.ts'
import type { Surroundings } from './surroundings.ts'
import { checked, given } from './usage.ts'

const options = machineOptions.extend({
  name: z.string().optional(),
  backend: z.array(z.string()).optional(),
  region: z.array(z.string()).optional(),
  instanceType: z.array(z.string()).optional(),
  idleDuration: z.string().optional(),
  maxDuration: z.string().optional(),
  hold: z.string().optional(),
  sshKey: sshKeyOption,
  claim: z.boolean().default(true),
  reuse: z.boolean().default(true),
  hardwareCheck: z.string().optional(),
})

export type RentalRequest = {
  /** The body of `POST /instances`. */
  body: object
  /** The query of `GET /offers` that shows what the body may get; `suits` does what a query can't say. */
  query: Record<string, unknown>
  suits: (offer: ShownOffer) => boolean
  /** Where the SSH keys come from. */
  keysFrom: string[]
  /** As it is counted from the last activity. */
  idleDuration: string
}

/** What the options of `berth rent` ask for, checked before anything is sent. Throws a Failure. */
export const rentalRequest = (at: Surroundings, written: unknown): RentalRequest => {
  const { gpu, cpu, memory, disk, maxPrice, ...wanted } = options.parse(written)
  const machine = given({ gpu, cpu, memory, disk, maxPrice, spotPolicy: spotPolicyOf(wanted) })
  const { keys, from } = publicKeys(at, wanted.sshKey)
  const body = given({
    ...machine,
    name: wanted.name,
    backends: wanted.backend,
    regions: wanted.region,
    instanceTypes: wanted.instanceType,
    idleDuration: wanted.idleDuration,
    maxDuration: wanted.maxDuration,
    hold: wanted.hold,
    sshKeys: keys,
    claim: wanted.claim ? undefined : false,
    reuse: wanted.reuse ? undefined : false,
    hardwareCheck: wanted.hardwareCheck,
  })
  checked(createRequest, body)
  const query = given({
    ...machine,
    backend: onlyOne(wanted.backend),
    region: onlyOne(wanted.region),
    instanceType: onlyOne(wanted.instanceType),
  })
  checked(offersQuery, query)
  return {
    body,
    query,
    suits: (offer) =>
      allows(wanted.backend, offer.backend) &&
      allows(wanted.region, offer.region) &&
      allows(wanted.instanceType, offer.instanceType) &&
      (wanted.reuse || offer.instanceId === undefined),
    keysFrom: from,
    idleDuration: wanted.idleDuration ?? '5m',
  }
}

const onlyOne = (list: string[] | undefined) => (list?.length === 1 ? list[0] : undefined)

const allows = (list: string[] | undefined, value: string) => list === undefined || list.includes(value)
