import * as z from 'zod'
import { hardwareCheck } from './hardware.ts'
import { cents, fromDollars } from './money.ts'
import { backendType, type Offer } from './offer.ts'
import { fits, requirementFields, requirements } from './requirements.ts'
import { span, spanOrOff } from './span.ts'

export const spotPolicy = z.enum(['spot', 'on-demand', 'auto'])

/** US dollars per hour in the API and in files, cents inside. */
export const dollarsPerHour = z
  .union([z.number(), z.string().regex(/^\d{1,6}(\.\d{1,6})?$/, 'write dollars per hour, for example 27.12')])
  .transform(Number)
  .pipe(z.number().positive().max(100_000))
  .transform(fromDollars)

/** Names that a host name and a shell take without quotes. */
const instanceName = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?$/, 'use 1 to 60 lower-case letters, digits and inner hyphens')

const publicKey = z
  .string()
  .max(4096)
  .regex(
    /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-[a-z0-9-]+@openssh\.com) [A-Za-z0-9+/]+={0,3}( [^\r\n]*)?$/,
    'not an OpenSSH public key; it starts with "ssh-ed25519 " or the like and is one line',
  )

/** Body of `POST /instances`. A field that is not known is an error, so that a misspelt limit never goes unseen. */
export const createRequest = z
  .strictObject({
    name: instanceName.optional(),
    ...requirementFields,
    backends: z.array(backendType).min(1).optional(),
    regions: z.array(z.string().min(1).max(64)).min(1).max(32).optional(),
    instanceTypes: z.array(z.string().min(1).max(64)).min(1).max(32).optional(),
    spotPolicy: spotPolicy.default('auto'),
    maxPrice: dollarsPerHour.optional(),
    idleDuration: spanOrOff.default(300_000),
    maxDuration: spanOrOff.default('off'),
    sshKeys: z.array(publicKey).max(16).default([]),
    claim: z.boolean().default(true),
    hold: span.optional(),
    reuse: z.boolean().default(true),
    hardwareCheck: hardwareCheck.default('enforce'),
  })
  .refine((body) => body.claim || body.hold === undefined, {
    path: ['hold'],
    message: 'hold keeps a claim, and "claim": false makes none; leave one of them out',
  })
export type CreateRequest = z.infer<typeof createRequest>

/** Body of `POST /instances/{id}/claim`. */
export const claimRequest = z.strictObject({ hold: span.optional() })

/** Query of `GET /offers`. */
export const offersQuery = z.strictObject({
  ...requirementFields,
  backend: backendType.optional(),
  region: z.string().optional(),
  instanceType: z.string().optional(),
  spotPolicy: spotPolicy.default('auto'),
  maxPrice: dollarsPerHour.optional(),
})

/** What a machine must be to be taken: the part of a request that is kept and compared with offers. */
export const wanted = z.object({
  requirements,
  backends: z.array(z.string()).optional(),
  regions: z.array(z.string()).optional(),
  instanceTypes: z.array(z.string()).optional(),
  spotPolicy,
  maxPriceCents: cents.optional(),
})
export type Wanted = z.infer<typeof wanted>

export const wantedBy = (body: CreateRequest): Wanted => ({
  ...wantedMachine(body),
  backends: body.backends,
  regions: body.regions,
  instanceTypes: body.instanceTypes,
})

export const wantedByQuery = (query: z.infer<typeof offersQuery>): Wanted => ({
  ...wantedMachine(query),
  backends: listOf(query.backend),
  regions: listOf(query.region),
  instanceTypes: listOf(query.instanceType),
})

/** Whether an offer, or a machine that Berth holds already, is what was asked for. */
export const satisfies = (
  wanted: Wanted,
  has: Pick<Offer, 'backend' | 'region' | 'instanceType' | 'resources' | 'pricePerHourCents'>,
): boolean =>
  fits(wanted.requirements, has.resources) &&
  allows(wanted.backends, has.backend) &&
  allows(wanted.regions, has.region) &&
  allows(wanted.instanceTypes, has.instanceType) &&
  (wanted.spotPolicy === 'auto' || (wanted.spotPolicy === 'spot') === has.resources.spot) &&
  has.pricePerHourCents <= (wanted.maxPriceCents ?? Number.POSITIVE_INFINITY)

const wantedMachine = (
  body: Pick<CreateRequest, 'gpu' | 'cpu' | 'memory' | 'disk' | 'spotPolicy' | 'maxPrice'>,
) => ({
  requirements: { gpu: body.gpu, cpu: body.cpu, memoryGb: body.memory, diskGb: body.disk },
  spotPolicy: body.spotPolicy,
  maxPriceCents: body.maxPrice,
})

const listOf = (value: string | undefined) => (value === undefined ? undefined : [value])

const allows = (list: string[] | undefined, value: string) => list === undefined || list.includes(value)
