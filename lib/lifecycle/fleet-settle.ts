import type { Fleet, FleetFailure } from '../model/fleet.ts'
import type { Instance } from '../model/instance.ts'
import { isInService, isLive, isWanted, type Nodes } from './fleet-standing.ts'

const firstPauseMs = 60_000
const longestPauseMs = 1_800_000
/** A node that served for so long was a good one: what ended it, or others before it, says nothing of the next. */
const servedWellMs = 3_600_000

/** What somebody, or a rule that looks at use alone, decided. */
const byChoice = ['terminated_by_user', 'idle_timeout', 'max_duration']
const machineIsGone = ['lost', 'interrupted']

/**
 * Reckons with what became of a fleet's nodes since the last time: pure, and the same fleet when there is nothing. Nodes
 * that are gone leave their slots; one that came to nothing makes the next wait, longer each time in a row.
 */
export const settle = (fleet: Fleet, nodes: Nodes, now: number): Fleet => {
  const known = fleet.nodes.flatMap((node) => {
    const instance = nodes.get(node.instanceId)
    return instance ? [{ node, instance }] : []
  })
  const leavers = known.filter(({ node, instance }) => !node.left && !isLive(instance))
  const followers = fleet.failure ? cameAfter(fleet.failure, nodes, fleet) : []
  const failure = followers.some((node) => servedWell(node, now)) ? undefined : fleet.failure
  const over = failure !== undefined && failure.isOver !== true && followers.length > 0
  const isSettled =
    known.length === fleet.nodes.length && known.every(({ instance }) => instance.status !== 'terminated')
  if (leavers.length === 0 && failure === fleet.failure && !over && isSettled) return fleet
  const kept = known
    .filter(({ instance }) => instance.status !== 'terminated')
    .map(({ node, instance }) => (isLive(instance) ? node : { ...node, left: true }))
  const left = leavers.map(({ instance }) => instance)
  return {
    ...fleet,
    nodes: kept,
    desired: desiredAfter(fleet, left, nodes),
    failure: failureAfter({ failure }, left, now) ?? (over ? { ...failure, isOver: true } : failure),
  }
}

/** Whether nodes may be rented now, and how many of those that are missing: after a failure one, alone. */
export const mayRent = ({ failure }: Fleet, kept: Instance[], missing: number, now: number): number => {
  if (!failure || failure.count === 0 || failure.isOver) return missing
  if (now < failure.retryAt) return 0
  const isBeingTried = kept.some((node) => !isInService(node) && node.createdAt >= failure.at)
  return isBeingTried ? 0 : Math.min(1, missing)
}

/** The failure after another one of that kind; also for a node that could not even be asked for. */
export const failedAgain = (fleet: Pick<Fleet, 'failure'>, message: string, now: number): FleetFailure => {
  const count = (fleet.failure?.count ?? 0) + 1
  const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(count - 1, 10))
  return { count, message, at: now, retryAt: now + pauseMs }
}

/** Those in service that were asked for after the failure: with one of them it is over. */
const cameAfter = ({ at }: FleetFailure, nodes: Nodes, { spec }: Fleet): Instance[] =>
  [...nodes.values()].filter((node) => isInService(node) && node.createdAt >= at && isWanted(spec, node))

const failureAfter = (
  fleet: Pick<Fleet, 'failure'>,
  left: Instance[],
  now: number,
): FleetFailure | undefined => {
  const failed = left.filter(({ terminationReason = 'error' }) => !byChoice.includes(terminationReason))
  const [first] = failed
  if (!first) return undefined
  const message = `${first.name} (${first.id}) ended: ${first.terminationMessage ?? 'nobody knows why'}`
  if (failed.every((node) => servedWell(node, now))) return { count: 0, message, at: now, retryAt: now }
  const failure = failedAgain(fleet, message, now)
  // What was prepaid for it runs on. One such machine is bad luck; a second one in a row is not followed by a third.
  const prepaidUntil = failure.count < 2 ? 0 : Math.max(...failed.map(prepaidEnd))
  return { ...failure, retryAt: Math.max(failure.retryAt, prepaidUntil) }
}

const prepaidEnd = ({ reservation, terminationReason, force }: Instance): number =>
  reservation && !force && !machineIsGone.includes(terminationReason ?? '') ? reservation.until : 0

const servedSince = ({ readyAt, events }: Instance): number | undefined =>
  readyAt ?? events.find(({ status }) => status === 'idle' || status === 'busy')?.at

const servedWell = (node: Instance, now: number): boolean => now - (servedSince(node) ?? now) >= servedWellMs

/**
 * How many nodes there are to be after some have left: above `min`, one that went by choice or after it had served is not
 * replaced; one that never came is tried again.
 */
const desiredAfter = (fleet: Fleet, left: Instance[], nodes: Nodes): number => {
  const { min } = fleet.spec.nodes
  const live = [...nodes.values()].filter((node) => isLive(node) && isWanted(fleet.spec, node)).length
  const gone = left.filter(
    (node) =>
      isWanted(fleet.spec, node) &&
      (byChoice.includes(node.terminationReason ?? '') || servedSince(node) !== undefined),
  ).length
  return Math.max(min, Math.min(fleet.desired, Math.max(live, fleet.desired - gone)))
}
