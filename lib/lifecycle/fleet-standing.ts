import { type Fleet, type FleetSpec, isSameWanted } from '../model/fleet.ts'
import { mostNodes } from '../model/fleet-nodes.ts'
import type { Instance } from '../model/instance.ts'
import { satisfies } from '../model/request.ts'

/** The instances of a fleet's nodes as they were read. */
export type Nodes = ReadonlyMap<string, Instance>

/** How a fleet stands: its live nodes, and what it lacks. */
export type Standing = {
  /** What it is to have, those that are worth most first. */
  kept: Instance[]
  /** Live, but not what is wanted, or more than `max`: given back as soon as they are free to go. */
  surplus: Instance[]
  /** On their way out; some of them are still paid for. */
  leaving: Instance[]
  /** How many are to be rented, now or when their time comes. */
  missing: number
  /** How many of them are held back until surplus nodes are gone, since there would be more than `max`. */
  heldBack: number
}

export const isLive = ({ status }: Instance): boolean => status !== 'terminating' && status !== 'terminated'

export const isInService = ({ status }: Instance): boolean => status === 'idle' || status === 'busy'

/** Whether a node is what its fleet is to have: by what it is, or while it is nothing yet by what it looks for. */
export const isWanted = (spec: FleetSpec, instance: Instance): boolean => {
  const { backend, region, instanceType, resources, pricePerHourCents } = instance
  if (!backend || !region || !instanceType || !resources || pricePerHourCents === undefined)
    return isSameWanted(spec.wanted, instance.wanted)
  return satisfies(spec.wanted, { backend, region, instanceType, resources, pricePerHourCents })
}

export const standingOf = (fleet: Fleet, nodes: Nodes): Standing => {
  const all = fleet.nodes.flatMap(({ instanceId }) => nodes.get(instanceId) ?? [])
  const live = all.filter(isLive)
  const max = fleet.spec.nodes.max ?? mostNodes
  const fitting = live.filter((node) => isWanted(fleet.spec, node)).sort(byWorth(fleet))
  const kept = fitting.slice(0, max)
  const surplus = live.filter((node) => !kept.includes(node))
  const wanting = fleet.status === 'active' ? Math.max(0, fleet.desired - kept.length) : 0
  const missing = Math.min(wanting, Math.max(0, max - live.length))
  return {
    kept,
    surplus,
    leaving: all.filter(({ status }) => status === 'terminating'),
    missing,
    heldBack: wanting - missing,
  }
}

/** The numbers that are free, from the lowest: no two of a fleet's machines have the same name. */
export const freeNumbers = ({ nodes }: Fleet, count: number): number[] => {
  const taken = new Set(nodes.map(({ n }) => n))
  const free: number[] = []
  for (let n = 0; free.length < count; n++) if (!taken.has(n)) free.push(n)
  return free
}

export const nodeName = (fleet: Pick<Fleet, 'name'>, n: number): string => `${fleet.name}-${n}`

const order: Record<Instance['status'], number> = {
  busy: 0,
  idle: 1,
  provisioning: 2,
  pending: 3,
  terminating: 4,
  terminated: 5,
}

/** In use before idle, prepaid for longer before shorter, then by number: always the same for the same nodes. */
const byWorth = ({ nodes }: Fleet) => {
  const numbers = new Map(nodes.map(({ instanceId, n }) => [instanceId, n]))
  return (a: Instance, b: Instance): number =>
    order[a.status] - order[b.status] ||
    (b.reservation?.until ?? 0) - (a.reservation?.until ?? 0) ||
    (numbers.get(a.id) ?? 0) - (numbers.get(b.id) ?? 0)
}
