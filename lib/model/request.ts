import * as z from 'zod'
import { hardwareCheck } from './hardware.ts'
import { cents, fromDollars } from './money.ts'
import { backendType, type Offer } from './offer.ts'
import { fits, requirementFields, requirements } from './requirements.ts'
import { span, spanOrOff } from './span.ts'

export const spotPolicy = z.enum(['spot', 'on-demand', 'auto'])
const wantedSpotPolicy = spotPolicy.default('auto').meta({
  description:
    'spot: only machines that cost less and that the cloud may take back at any moment. on-demand: only others. auto: both.',
})

const allowedNames = z.array(z.string().min(1).max(64)).min(1).max(32).optional()

const hold = span.optional().meta({
  description: 'Keeps the claim so long whatever happens, and the machine costs money that long.',
})

const dollarsForm = 'write dollars per hour, for example 27.12'

/** US dollars per hour in the API and in files, cents inside. */
export const dollarsPerHour = z
  .union([z.number(), z.string().regex(/^\d{1,6}(\.\d{1,6})?$/, dollarsForm)], dollarsForm)
  .transform(Number)
  .pipe(z.number().positive().max(100_000))
  .transform(fromDollars)
  .optional()
  .meta({ description: 'The most that an hour may cost, in US dollars.' })

/** Names that a host name and a shell take without quotes. */
const instanceName = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?$/, 'use 1 to 60 lower-case letters, digits and inner hyphens')

/** How many public keys one machine may let in. */
export const mostSshKeys = 16

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
    name: instanceName.optional().meta({ description: 'Made up when left out.', examples: ['trainer'] }),
    ...requirementFields,
    backends: z.array(backendType).min(1).optional().meta({ description: 'The clouds that are allowed.' }),
    regions: allowedNames.meta({
      description: 'The regions that are allowed.',
      examples: [['eu-frankfurt-1']],
    }),
    instanceTypes: allowedNames.meta({
      description: 'The instance types that are allowed, by the names of their cloud.',
      examples: [['bm-mi300x-8', 'BM.GPU.H100.8']],
    }),
    spotPolicy: wantedSpotPolicy,
    maxPrice: dollarsPerHour,
    idleDuration: spanOrOff.default(300_000).meta({
      description:
        'How long the machine may be idle before it is given back: a time span, "0" for at once, "off" for never, which costs money until somebody deletes it. 5m when left out. Never before the end of what is prepaid.',
    }),
    maxDuration: spanOrOff.default('off').meta({
      description: 'Ends the machine after so long, whatever it does. "off" for never.',
    }),
    sshKeys: z
      .array(publicKey)
      .max(mostSshKeys)
      .default([])
      .meta({ description: 'OpenSSH public keys that may enter the machine while the claim lasts.' }),
    claim: z
      .boolean()
      .default(true)
      .meta({ description: 'false leaves the machine to the pool, for whoever asks first.' }),
    hold,
    reuse: z.boolean().default(true).meta({
      description: 'Whether an idle machine that fits may be taken, at no new charge. false rents a new one.',
    }),
    hardwareCheck: hardwareCheck.default('enforce').meta({
      description:
        'What is done with a machine that is not what was advertised: enforce gives it back, warn keeps it and says so, off does not look.',
    }),
  })
  .refine((body) => body.claim || body.hold === undefined, {
    path: ['hold'],
    message: 'hold keeps a claim, and "claim": false makes none; leave one of them out',
  })
export type CreateRequest = z.infer<typeof createRequest>

/** Body of `POST /instances/{id}/claim`. */
export const claimRequest = z.strictObject({
  hold,
  sshKeys: z.array(publicKey).max(mostSshKeys).optional().meta({
    description:
      'OpenSSH public keys that may enter the machine while the claim lasts. On a machine that the caller has claimed already they are added to those that it lets in.',
  }),
})
export type ClaimRequest = z.infer<typeof claimRequest>

/** Query of `GET /offers`. */
export const offersQuery = z.strictObject({
  ...requirementFields,
  backend: backendType.optional().meta({ description: 'The one cloud that is asked.' }),
  region: z
    .string()
    .max(64)
    .optional()
    .meta({ examples: ['eu-frankfurt-1'] }),
  instanceType: z
    .string()
    .max(64)
    .optional()
    .meta({ examples: ['bm-mi300x-8'] }),
  spotPolicy: wantedSpotPolicy,
  maxPrice: dollarsPerHour,
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
