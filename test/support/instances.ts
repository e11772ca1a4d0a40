import type { Instance } from '../../lib/model/instance.ts'

const start = Date.parse('2026-03-02T09:00:00Z')

/** A pending instance, with whatever a test says is different. */
export const anInstance = (different: Partial<Instance> = {}): Instance => ({
  id: 'i-000000000001',
  name: 'one',
  version: 0,
  status: 'pending',
  createdAt: start,
  createdBy: 'alice',
  wanted: { requirements: {}, spotPolicy: 'auto' },
  hardwareCheck: 'enforce',
  idleDuration: 300_000,
  maxDuration: 'off',
  sshKeys: [],
  attempts: 0,
  visits: 0,
  nextCheckAt: start,
  sweepAt: start,
  events: [{ at: start, status: 'pending', message: 'asked for' }],
  ...different,
})

/** A machine in service, claimed by alice since the start. */
export const aBusyInstance = (different: Partial<Instance> = {}): Instance =>
  anInstance({
    status: 'busy',
    backend: 'hotaisle',
    region: 'us-michigan-1',
    instanceType: 'vm-mi300x-1',
    resources: {
      cpu: { arch: 'x86', count: 8 },
      memoryGb: 224,
      diskGb: 12_288,
      localDisks: [],
      gpu: { vendor: 'amd', name: 'MI300X', memoryGb: 192, count: 1 },
      spot: false,
    },
    pricePerHourCents: 199,
    minimumReservationMinutes: 1,
    minimumChargeCents: 4,
    startedAt: start,
    machine: { cloudId: 'vm-1', rentalId: 'd-1', mark: 'berth:test:i-000000000001:1' },
    claim: { holder: 'alice', since: start, active: false },
    ...different,
  })

/** A machine in service that nobody has claimed, idle since the start. */
export const anIdleInstance = (different: Partial<Instance> = {}): Instance =>
  aBusyInstance({ status: 'idle', claim: undefined, idleSince: start, ...different })
