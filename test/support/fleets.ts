import type { Fleet } from '../../lib/model/fleet.ts'

const start = Date.parse('2026-03-02T09:00:00Z')

/** A fleet of two machines of any kind, without nodes, with whatever a test says is different. */
export const aFleet = (different: Partial<Fleet> = {}): Fleet => ({
  name: 'amd',
  version: 0,
  status: 'active',
  spec: {
    nodes: { min: 2, target: 2, max: 2 },
    wanted: { requirements: {}, spotPolicy: 'auto' },
    idleDuration: 300_000,
  },
  desired: 2,
  nodes: [],
  createdBy: 'alice',
  createdAt: start,
  ...different,
})
