import { describe, expect, test } from 'vitest'
import type * as z from 'zod'
import { fleetFile } from '../../lib/model/fleet-file.ts'
import { deploymentLimits } from '../../lib/model/limits.ts'
import { claimRequest, createRequest, offersQuery } from '../../lib/model/request.ts'
import { settings } from '../../lib/model/settings.ts'

/** What people and programs write where something else belongs. */
const odd = ['', 'no such thing', '-5m', -1, 1e300, Number.NaN, true, null, [], [[]], {}, { min: [] }]

const messagesFor = (schema: z.ZodType, value: unknown): string[] =>
  schema.safeParse(value).error?.issues.map(({ message }) => message) ?? []

/** What zod says by itself of something that has several forms, none of which it is. */
const saysNothing = (message: string) => message === 'Invalid input'

const ofFleetFiles = [
  ...['name', 'nodes', 'resources', 'backends', 'regions', 'instance_types', 'spot_policy', 'max_price'],
  'idle_duration',
].map((key): [string, (value: unknown) => object] => [key, (value) => ({ [key]: value })])
const ofResources = ['gpu', 'cpu', 'memory', 'disk'].map((key): [string, (value: unknown) => object] => [
  `resources.${key}`,
  (value) => ({ resources: { [key]: value } }),
])
const ofGpus = ['vendor', 'name', 'count', 'memory'].map((key): [string, (value: unknown) => object] => [
  `resources.gpu.${key}`,
  (value) => ({ resources: { gpu: { [key]: value } } }),
])

describe('every wrong value of a field is answered with what is allowed', () => {
  test.each([
    ...Object.keys(createRequest.shape).map(
      (key) => [`${key} of POST /instances`, createRequest, key] as const,
    ),
    ...Object.keys(claimRequest.shape).map((key) => [`${key} of a claim`, claimRequest, key] as const),
    ...Object.keys(offersQuery.shape).map((key) => [`${key} of GET /offers`, offersQuery, key] as const),
    ...Object.keys(settings.in.shape).map((key) => [`${key} of the settings`, settings, key] as const),
  ])('of %s', (_, schema, key) => {
    const messages = odd.flatMap((value) => messagesFor(schema, { [key]: value }))
    expect(messages.length).toBeGreaterThan(0)
    expect(messages.filter(saysNothing)).toEqual([])
  })

  test.each([...ofFleetFiles, ...ofResources, ...ofGpus])('of a fleet file: %s', (_, having) => {
    const messages = odd.flatMap((value) =>
      messagesFor(fleetFile, { type: 'fleet', nodes: 1, ...having(value) }),
    )
    expect(messages.length).toBeGreaterThan(0)
    expect(messages.filter(saysNothing)).toEqual([])
  })

  test.each(['max_price_per_hour', 'max_instances', 'monthly_budget', 'max_duration'])(
    'of %s in the settings, where nothing is not 0 and yes is not 1',
    (limit) => {
      const refused = [null, '', true, 'no such thing', [], {}, -1].map((value) =>
        messagesFor(deploymentLimits, { [limit]: value }),
      )
      expect(refused.filter((messages) => messages.length === 0)).toEqual([])
      expect(refused.flat().filter(saysNothing)).toEqual([])
    },
  )

  test.each(['hotaisle', 'oci'])('of the settings of %s', (type) => {
    const fields = [
      'creds',
      'regions',
      'bare_metal',
      'experimental_shapes',
      'prices',
      'ssh_port',
      'team_handle',
    ]
    const messages = fields.flatMap((field) =>
      odd.flatMap((value) => messagesFor(settings, { backends: [{ type, [field]: value }] })),
    )
    expect(messages.length).toBeGreaterThan(0)
    expect(messages.filter(saysNothing)).toEqual([])
  })
})
