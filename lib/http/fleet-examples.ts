import { anInstance, anOffer } from './examples.ts'
import type { FleetAnswer, PlanAnswer } from './fleet-answers.ts'

const { instanceType, pricePerHour, reservedUntil, backend, region } = anInstance

/** One bare metal server that is kept. */
export const aFleet: FleetAnswer = {
  name: 'mi300x',
  status: 'active',
  version: 3,
  createdAt: '2030-01-01T00:00:00.000Z',
  createdBy: 'alice',
  deletedAt: null,
  spec: {
    nodes: { min: 1, target: 1, max: 1 },
    resources: 'cpu=2.. memory=8GB.. disk=100GB..',
    backends: ['hotaisle'],
    regions: null,
    instanceTypes: ['bm-mi300x-8'],
    spotPolicy: 'on-demand',
    maxPrice: null,
    idleDuration: '3d',
  },
  desired: 1,
  missing: 0,
  missingBecause: null,
  retryAt: null,
  pricePerHour: 27.12,
  nodes: [
    {
      n: 0,
      name: 'mi300x-0',
      instanceId: anInstance.id,
      status: 'idle',
      phase: null,
      instanceType,
      holder: null,
      pricePerHour,
      backend,
      region,
      idleSince: '2030-01-01T00:30:00.000Z',
      reservedUntil,
      releaseAt: null,
      message: 'idle, and kept: fleet mi300x keeps 1 node at least',
    },
  ],
}

export const aPlan: PlanAnswer = {
  action: 'create',
  create: [{ name: 'mi300x-0', offer: anOffer }],
  keep: [],
  remove: [],
  pricePerHour: 27.12,
  minimumCharge: 216.96,
  totalPerHour: 27.12,
  messages: [],
  errors: [],
}
