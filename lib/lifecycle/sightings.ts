import { isDeepStrictEqual } from 'node:util'
import type { Backend, OwnedMachine } from '../backends/backend.ts'
import type { Context } from '../context.ts'
import type { Instance } from '../model/instance.ts'
import { isSameMachine, markOn } from './same-machine.ts'

/**
 * The machines that nothing says the owner of, and that are no record's. While a launch of that type is open, the
 * machine may be what it brings.
 */
export const namelessOf = (machines: OwnedMachine[], records: Instance[]): OwnedMachine[] =>
  machines.filter(
    (listed) =>
      listed.nameless === true &&
      !records.some(
        ({ machine, intent, instanceType }) =>
          (machine !== undefined && isSameMachine(machine, listed)) ||
          (intent !== undefined && instanceType === listed.instanceType),
      ),
  )

/**
 * Keeps from when on machines are without explanation, where their cloud does not say when they were made, and gives
 * that time for each. Of what stays nameless for longer than the grace a person is told, once; it is never touched.
 */
export const rememberSightings = async (
  ctx: Context,
  backend: Backend,
  graceMs: number,
  { unled, nameless }: { unled: OwnedMachine[]; nameless: OwnedMachine[] },
): Promise<(machine: OwnedMachine) => number> => {
  const now = ctx.clock.now()
  const before = await ctx.store.sightings.get(backend.type)
  const known = before?.machines ?? {}
  const sightingOf = (machine: OwnedMachine) => known[keyOf(machine)] ?? { firstSeenAt: now }
  const toTell = nameless.filter((machine) => {
    const { firstSeenAt, told } = sightingOf(machine)
    return told !== true && now - firstSeenAt >= graceMs
  })
  const undated = unled.filter(({ createdAt }) => createdAt === undefined)
  const machines = Object.fromEntries([
    ...[...undated, ...nameless].map((machine) => [keyOf(machine), sightingOf(machine)] as const),
    ...toTell.map((machine) => [keyOf(machine), { ...sightingOf(machine), told: true }] as const),
  ])
  const isNews = !isDeepStrictEqual(machines, known)
  // Of two reconciles at once one writes, and tells.
  if (isNews && (await ctx.store.sightings.put(backend.type, before, machines)))
    for (const machine of toTell) tell(ctx, backend, machine, sightingOf(machine).firstSeenAt)
  return (machine) => machine.createdAt ?? sightingOf(machine).firstSeenAt
}

const keyOf = (machine: OwnedMachine): string =>
  `${machine.cloudId} ${machine.rentalId ?? markOn(machine) ?? ''}`

const tell = (
  ctx: Context,
  { type }: Backend,
  { cloudId, rentalId, instanceType }: OwnedMachine,
  since: number,
) =>
  ctx.log.alarm(
    'OrphanFound',
    `${cloudId} (${instanceType}) says of nobody whose it is, and no record is about it; it costs money, and Berth ` +
      'never touches it. A person must look, and describe it, or delete it.',
    { backend: type, cloudId, rentalId, since: new Date(since).toISOString() },
  )
