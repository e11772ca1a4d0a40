import { z } from 'zod'
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

const backendSettings = z.discriminatedUnion('type', [hotaisleSettings])
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
        arrival_grace: span.default(600_000),
        gpu_percent: z.number().min(0).max(100).default(5),
      })
      .prefault({}),
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
