import type { InstanceAnswer, OfferAnswer, ReservationAnswer } from './answers.ts'
import type { CostsAnswer } from './cost-answers.ts'

const resources: OfferAnswer['resources'] = {
  cpu: { arch: 'x86', count: 104 },
  memoryGb: 2048,
  diskGb: 447,
  localDisks: [{ mountPath: '/mnt/nvme0n1p1', sizeGb: 14_305 }],
  gpu: { vendor: 'amd', name: 'MI300X', memoryGb: 192, count: 8 },
  spot: false,
}

/** A bare metal server of Hot Aisle, with its eight prepaid hours. */
export const anOffer: OfferAnswer = {
  id: 'hotaisle/us-michigan-1/bm-mi300x-8/1',
  backend: 'hotaisle',
  region: 'us-michigan-1',
  zones: [],
  instanceType: 'bm-mi300x-8',
  resources,
  availability: 'available',
  minimumReservationMinutes: 480,
  pricePerHour: 27.12,
  minimumCharge: 216.96,
}

/** As it is answered at once: nothing is rented yet. */
export const aRequest: InstanceAnswer = {
  id: 'i-5f2c81d0a3b4',
  name: 'trainer',
  fleet: null,
  status: 'pending',
  phase: null,
  backend: null,
  region: null,
  zone: null,
  instanceType: null,
  resources: null,
  pricePerHour: null,
  cloudId: null,
  hostname: null,
  sshPort: null,
  sshUsername: null,
  hostKeyFingerprint: null,
  createdAt: '2030-01-01T00:00:00.000Z',
  startedAt: null,
  holder: 'alice',
  holdUntil: null,
  lastActivityAt: null,
  idleSince: null,
  unreachableSince: null,
  idleDuration: '10m',
  maxDuration: 'off',
  reservedUntil: null,
  releaseAt: null,
  terminationReason: null,
  terminationMessage: null,
  terminatedAt: null,
  hardware: null,
  accruedCost: 0,
  minimumCharge: null,
}

/** The same half an hour later. */
export const anInstance: InstanceAnswer = {
  ...aRequest,
  status: 'busy',
  backend: 'hotaisle',
  region: 'us-michigan-1',
  instanceType: 'bm-mi300x-8',
  resources,
  pricePerHour: 27.12,
  cloudId: 'server-17',
  hostname: '203.0.113.7',
  sshPort: 22,
  sshUsername: 'hotaisle',
  hostKeyFingerprint: 'SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU',
  startedAt: '2030-01-01T00:00:04.000Z',
  lastActivityAt: '2030-01-01T00:30:00.000Z',
  reservedUntil: '2030-01-01T08:00:04.000Z',
  hardware: { verdict: 'match', observed: { arch: 'x86', cpus: 104, gpuCount: 8 }, differences: [] },
  accruedCost: 216.96,
  minimumCharge: 216.96,
}

export const aReservation: ReservationAnswer = {
  instanceId: anInstance.id,
  backend: 'hotaisle',
  cloudId: 'server-17',
  instanceType: 'bm-mi300x-8',
  startedAt: '2030-01-01T00:00:04.000Z',
  reservedUntil: '2030-01-01T08:00:04.000Z',
  minimumMinutes: 480,
  pricePerHour: 27.12,
  minimumCharge: 216.96,
  state: 'active',
}

export const aMonth: CostsAnswer = {
  month: '2030-01',
  total: 244.08,
  byBackend: [{ backend: 'hotaisle', cost: 244.08 }],
  byKey: [{ key: 'alice', cost: 244.08 }],
  byFleet: [],
  instances: [
    {
      instanceId: anInstance.id,
      name: 'trainer',
      backend: 'hotaisle',
      instanceType: 'bm-mi300x-8',
      key: 'alice',
      fleet: null,
      hours: 9,
      cost: 244.08,
      running: true,
    },
  ],
  limits: {
    deployment: {
      maxPricePerHour: { limit: 160, used: 27.12 },
      monthlyBudget: { limit: 20_000, used: 271.2 },
    },
    keys: [{ key: 'alice', maxInstances: { limit: 2, used: 1 } }],
  },
}
