import * as z from 'zod'
import { deploymentLimits } from './limits.ts'
import { fromDollars } from './money.ts'
import { span } from './span.ts'

/** A Hot Aisle backend, as in dstack's `config.yml`. */
const hotaisleSettings = z.strictObject({
  type: z.literal('hotaisle'),
  team_handle: z.string().min(1),
  creds: z.strictObject({
    type: z.literal('api_key').default('api_key'),
    api_key: z.string().regex(/^[^.\s]+\.[^.\s]+$/, 'an API key of Hot Aisle has the form <prefix>.<secret>'),
  }),
  regions: z.array(z.string().min(1)).min(1).optional(),
  /** Bare metal charges eight hours at once, so it is offered only to those who say so. */
  bare_metal: z.boolean().default(false),
  api_url: z.url().default('https://admin.hotaisle.app/api'),
})
export type HotAisleSettings = z.infer<typeof hotaisleSettings>

/** A private key is in the settings or in a file, never in both. */
const withOneKey = { key_content: z.string().min(1).optional(), key_file: z.string().min(1).optional() }
const hasOneKey = (creds: { key_content?: string | undefined; key_file?: string | undefined }) =>
  (creds.key_content === undefined) !== (creds.key_file === undefined)
const oneKey = { path: ['key_content'], message: 'set either key_content or key_file' }

/** An API key of a user. */
const ociClientCreds = z
  .strictObject({
    type: z.literal('client'),
    user: z.string().min(1),
    tenancy: z.string().min(1),
    fingerprint: z.string().min(1),
    ...withOneKey,
    pass_phrase: z.string().optional(),
    /** Name or key (`FRA`) of any region that the tenancy is subscribed to. */
    region: z.string().min(1),
  })
  .refine(hasOneKey, oneKey)

/** A profile of a config file of OCI's own tools, with an API key or with a session token. */
const ociDefaultCreds = z.strictObject({
  type: z.literal('default'),
  file: z.string().min(1).default('~/.oci/config'),
  profile: z.string().min(1).default('DEFAULT'),
})

/** What a profile of `oci session authenticate` holds, for where there are no files. */
const ociSessionCreds = z
  .strictObject({
    type: z.literal('session'),
    tenancy: z.string().min(1),
    security_token: z.string().min(1),
    ...withOneKey,
    pass_phrase: z.string().optional(),
    region: z.string().min(1),
  })
  .refine(hasOneKey, oneKey)

/** Marketplace listings are regional, and Berth's images are published in these regions alone. */
const ociRegions = [
  'eu-frankfurt-1',
  'eu-milan-1',
  'me-dubai-1',
  'uk-london-1',
  'us-ashburn-1',
  'us-chicago-1',
  'us-phoenix-1',
] as const
export const ociRegion = z.enum(ociRegions, {
  error: `dstack's machine images are published in these regions alone: ${ociRegions.join(', ')}`,
})

/** An OCI backend, as in dstack's `config.yml`, with keys of Berth's own below the compartment. */
const ociSettings = z.strictObject({
  type: z.literal('oci'),
  creds: z.discriminatedUnion('type', [ociClientCreds, ociDefaultCreds, ociSessionCreds]),
  /** Without it, every region in which there are images and to which the tenancy is subscribed. */
  regions: z.array(ociRegion).min(1).optional(),
  /** Without it, Berth makes itself a compartment. */
  compartment_id: z.string().min(1).optional(),
  /** Instead of Oracle's addresses; `{service}` (compute, network, identity, marketplace, auth) and `{region}` are filled in. */
  endpoint: z
    .string()
    .regex(/^https?:\/\//, 'an endpoint starts with "https://"')
    .optional(),
  /** Where machines' sshd is reached, for networks that forward another port to it. */
  ssh_port: z.int().min(1).max(65_535).default(22),
  /** Offers shapes on which nobody has run the images yet: all of them, or those that are named. */
  experimental_shapes: z
    .union([z.boolean(), z.array(z.string().min(1))], 'write true, false, or a list of shapes')
    .default(false),
  /** US dollars per hour by shape: offers one that Oracle's price list lacks, and replaces a price that it has. */
  prices: z.record(z.string().min(1), z.number().positive().max(100_000).transform(fromDollars)).default({}),
  /** Version of dstack's machine images. */
  image_version: z
    .string()
    .regex(/^\d+(\.\d+)*$/, 'a version has the form 0.14')
    .default('0.14'),
})
export type OciSettings = z.infer<typeof ociSettings>

const backendSettings = z.discriminatedUnion('type', [hotaisleSettings, ociSettings])
export type BackendSettings = z.infer<typeof backendSettings>

const shimSettings = z.strictObject({
  version: z
    .string()
    .regex(/^[A-Za-z0-9.+-]+$/)
    .default('0.22.5'),
  /** `{version}` and `{arch}` (amd64, arm64) are filled in. */
  download_url: z
    .string()
    .default(
      'https://dstack-runner-downloads.s3.eu-west-1.amazonaws.com/{version}/binaries/dstack-shim-linux-{arch}',
    ),
  runner_download_url: z
    .string()
    .default(
      'https://dstack-runner-downloads.s3.eu-west-1.amazonaws.com/{version}/binaries/dstack-runner-linux-{arch}',
    ),
})
export type ShimSettings = z.infer<typeof shimSettings>

const backends = z
  .array(backendSettings)
  .min(1)
  .refine(
    (list) => new Set(list.map(({ type }) => type)).size === list.length,
    'list each type of backend once',
  )

/** `berth.yml`: dstack's backends, at the top or under its one project, and Berth's own keys. */
export const settings = z
  .strictObject({
    backends: backends.optional(),
    projects: z
      .array(z.strictObject({ name: z.string().min(1), backends }))
      .length(1, 'Berth serves one project; keep one')
      .optional(),
    shim: shimSettings.prefault({}),
    ssh: z.strictObject({ private_key: z.string().min(1).optional() }).prefault({}),
    idle: z
      .strictObject({
        arrival_grace: span.prefault('10m'),
        gpu_percent: z.number().min(0).max(100).default(5),
      })
      .prefault({}),
    /** How often one API key may ask; five seconds' worth may come at once. */
    api: z.strictObject({ requests_per_second: z.number().min(0.1).max(1000).default(20) }).prefault({}),
    limits: deploymentLimits.prefault({}),
  })
  .transform(({ backends, projects, ...rest }, context) => {
    const listed = [...(backends ?? []), ...(projects ?? []).flatMap((project) => project.backends)]
    if (listed.length === 0 || (backends && projects)) {
      const message = 'list the backends once: under "backends", or under "projects" as dstack does'
      context.addIssue({ code: 'custom', path: ['backends'], message })
      return z.NEVER
    }
    return { ...rest, backends: listed }
  })
export type Settings = z.infer<typeof settings>

/** The files of this machine that settings refer to, each with its key: where there are no files, they are of no use. */
export const fileNamesIn = ({ backends }: Settings): string[] =>
  backends.flatMap((backend) => {
    if (backend.type !== 'oci') return []
    const { creds } = backend
    if (creds.type === 'default') return [`creds of type default (${creds.file})`]
    return creds.key_file === undefined ? [] : [`key_file (${creds.key_file})`]
  })
