import * as z from 'zod'
import { partOf } from './file-part.ts'
import type { FleetSpec } from './fleet.ts'
import { fleetNodes } from './fleet-nodes.ts'
import { fleetResources } from './fleet-resources.ts'
import { backendType } from './offer.ts'
import { dollarsPerHour, spotPolicy } from './request.ts'
import { parseSpan, type Span } from './span.ts'
import { textBy } from './text-by.ts'

/** dstack's rule for names of fleets. */
export const fleetName = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{1,40}$/,
    'use 2 to 41 lower-case letters, digits and hyphens, and begin with a letter',
  )

const strings = z.array(z.string().min(1).max(64)).min(1).max(32)

/** Idle nodes of a fleet stay for three days, as in dstack. */
const defaultIdleMs = 3 * 86_400_000

/** A span, or dstack's words for "never": `off`, `false`, -1. */
const idleDuration = z.union(
  [
    z.literal([true, false]).transform((isOn): Span => (isOn ? defaultIdleMs : 'off')),
    textBy((text): Span => (text.trim() === '-1' ? 'off' : parseSpan(text))),
  ],
  'write a time span such as "30m" or "3d", or "off"',
)

/** What dstack's fleets can have and Berth's cannot. */
const unsupported = [
  'availability_zones',
  'backend_options',
  'blocks',
  'creation_policy',
  'env',
  'fleets',
  'instance_name',
  'max_duration',
  'placement',
  'pool_name',
  'profile',
  'profiles',
  'reservation',
  'retry',
  'retry_policy',
  'schedule',
  'ssh_config',
  'startup_order',
  'stop_criteria',
  'stop_duration',
  'tags',
  'termination_idle_time',
  'termination_policy',
  'utilization_policy',
]

/**
 * dstack's fleet file, as its YAML reads. A key that nobody knows, or that Berth does not support, is an error with that
 * key's path: what was asked for and is not done must never go unseen. Source: FleetConfiguration in dstack's
 * `core/models/fleets.py`, with its defaults: on-demand machines, idle for three days.
 */
export const fleetFile = partOf(
  z.strictObject({
    type: z.literal('fleet', 'must be "fleet": Berth applies nothing else'),
    name: fleetName.optional(),
    nodes: fleetNodes,
    resources: fleetResources,
    backends: z.array(backendType).min(1).optional(),
    regions: strings.optional(),
    instance_types: strings.optional(),
    spot_policy: spotPolicy.default('on-demand'),
    max_price: dollarsPerHour.optional(),
    idle_duration: idleDuration.default(defaultIdleMs),
  }),
  unsupported,
)
  .transform((file): { name: string | undefined; spec: FleetSpec } => ({
    name: file.name,
    spec: {
      nodes: file.nodes,
      wanted: {
        requirements: file.resources,
        backends: file.backends,
        regions: file.regions,
        instanceTypes: file.instance_types,
        spotPolicy: file.spot_policy,
        maxPriceCents: file.max_price,
      },
      idleDuration: file.idle_duration,
    },
  }))
  .meta({
    id: 'FleetFile',
    description: "dstack's fleet file.",
    override: {
      type: 'object',
      properties: {
        type: { const: 'fleet' },
        name: { type: ['string', 'null'], description: 'As in the path.' },
        nodes: { description: 'How many: 2, "1..4", or {min, target, max}.' },
        resources: { description: 'gpu, cpu, memory and disk, each as text or in parts.' },
        backends: { description: 'Those that it may use.' },
        regions: {},
        instance_types: {},
        spot_policy: { enum: [...spotPolicy.options, null] },
        max_price: { description: 'US dollars per hour, of each node.' },
        idle_duration: { description: 'How long an idle node above min stays: 3d, 30m, off.' },
      },
      required: ['type', 'nodes'],
      additionalProperties: false,
    },
  })
