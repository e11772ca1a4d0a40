import { isInService, isLive, isWanted } from '../../lib/lifecycle/fleet-standing.ts'
import type { Fleet } from '../../lib/model/fleet.ts'
import type { Instance } from '../../lib/model/instance.ts'
import type { Timeline } from './timeline.ts'

const minuteMs = 60_000
const longestPauseMs = 30 * minuteMs

/** Holds fleets to what they promise, by what is written into the table. */
export const createFleetPromises = (parts: {
  timeline: Timeline
  records: () => Instance[]
  fleets: () => Fleet[]
  violated: (promise: string) => void
}) => {
  const { timeline, records, violated } = parts
  const liveOf = (name: string) => records().filter((record) => record.fleet === name && isLive(record))
  const serving = (fleet: Fleet, but?: string) =>
    liveOf(fleet.name).filter((node) => node.id !== but && isInService(node) && isWanted(fleet.spec, node))
      .length

  /** Why an active fleet may have fewer nodes than it is to have. */
  const isExcused = ({ name, spec, failure }: Fleet): boolean => {
    const now = timeline.now()
    const waits = failure !== undefined && failure.isOver !== true && failure.retryAt > now - 2 * minuteMs
    return waits || liveOf(name).length >= (spec.nodes.max ?? Number.POSITIVE_INFINITY)
  }
  /** Nobody has it, and the look at fleets, each minute, has had the time to see that. */
  const isLeftOver = ({ status, idleSince = 0 }: Instance): boolean =>
    status !== 'busy' && timeline.now() - idleSince > 2 * minuteMs
  const isShort = (fleet: Fleet) => fleet.status === 'active' && serving(fleet) < fleet.spec.nodes.min

  return {
    /** Before the instance is written that comes or goes with it. */
    written: (before: Fleet | undefined, after: Fleet | undefined) => {
      if (!after) return
      if (before && after.version !== before.version + 1)
        violated(`fence: fleet ${after.name} went from version ${before.version} to ${after.version}`)
      const added = after.nodes.filter(
        ({ instanceId }) => !before?.nodes.some((known) => known.instanceId === instanceId),
      )
      const { max = Number.POSITIVE_INFINITY } = after.spec.nodes
      if (added.length > 0 && liveOf(after.name).length + added.length > max)
        violated(`7: fleet ${after.name} gets a node more than max (${max})`)
      if (added.length > 0 && after.status !== 'active')
        violated(`7: fleet ${after.name} is being deleted, and gets a node`)
      if (new Set(after.nodes.map(({ n }) => n)).size < after.nodes.length)
        violated(`7: fleet ${after.name} has a slot with two nodes`)
      const { failure } = after
      const isPrepaid = records().some(({ reservation }) => reservation?.until === failure?.retryAt)
      if (failure && failure.retryAt - failure.at > longestPauseMs && !isPrepaid)
        violated(`7: fleet ${after.name} waits longer than half an hour`)
    },
    /** A node that ends for being idle leaves `min` others in service, unless its fleet has no use for it. */
    idledOut: (node: Instance) => {
      const fleet = parts.fleets().find(({ name }) => name === node.fleet)
      if (fleet?.status !== 'active' || !isWanted(fleet.spec, node)) return
      if (serving(fleet, node.id) < fleet.spec.nodes.min)
        violated(
          `7: ${node.id} ended as idle, and fleet ${fleet.name} has fewer than ${fleet.spec.nodes.min}`,
        )
    },
    isAtRest: () => parts.fleets().every((fleet) => !isShort(fleet) || isExcused(fleet)),
    atRest: () => {
      for (const fleet of parts.fleets()) {
        if (isShort(fleet) && !isExcused(fleet))
          violated(
            `7: fleet ${fleet.name} has ${serving(fleet)} nodes of ${fleet.spec.nodes.min}, and no reason`,
          )
        if (fleet.status === 'deleting' && liveOf(fleet.name).some(isLeftOver))
          violated(`7: fleet ${fleet.name} is deleted, and has nodes that nobody holds`)
      }
      const names = new Set(parts.fleets().map(({ name }) => name))
      for (const { id, fleet } of records().filter(isLive))
        if (fleet !== undefined && !names.has(fleet))
          violated(`7: fleet ${fleet} is gone, and its ${id} lives on`)
    },
    atEnd: () => {
      for (const { name, status } of parts.fleets()) violated(`7: fleet ${name} is still ${status}`)
    },
  }
}
