import type { Clock } from '../../model/clock.ts'
import type { Intent } from '../../model/intent.ts'
import type { FindOutcome, Rental } from '../backend.ts'
import { type SeenMachine, specs } from './answers.ts'
import type { Api } from './api.ts'
import { wordsOfAnswer } from './client.ts'
import { payload } from './kinds.ts'
import { idOf, type Listing, listMachines } from './listing.ts'

/**
 * How long a create may go on after its answer was lost, before an empty listing means anything. Waiting costs nothing,
 * and a second bare metal server eight hours.
 */
const settledAfterMs = 10 * 60_000

/** Looks for what came of an intent. Never guesses: a wrong `absent` pays for a second machine. */
export const findMachine = async (
  { api, clock }: { api: Api; clock: Clock },
  { intent }: Rental,
): Promise<FindOutcome> => {
  const offer = payload.safeParse(intent.payload)
  if (!offer.success) return unclear("the intent can't be read; a person must look in the Hot Aisle console")
  const { kind } = offer.data
  const listing = await listMachines(api, kind)
  const marked = listing.machines.filter(({ description }) => description === intent.mark)
  if (marked.length > 1) return tooMany(marked)
  const [own] = marked
  if (own) return found(own)
  if (!listing.complete)
    return unclear(listing.message ?? 'the machines could not be listed', listing.retryAfterMs)
  const settled = clock.now() - intent.writtenAt > settledAfterMs
  if (kind === 'vm') return adopt(api, intent, listing, offer.data.specs, settled)
  return settled ? { outcome: 'absent' } : unclear('no such machine is listed yet')
}

/** A VM carries nothing of the intent, so ours is the one that is new, unclaimed, and what was asked for. */
const adopt = async (
  api: Api,
  intent: Intent,
  listing: Listing,
  wanted: unknown,
  settled: boolean,
): Promise<FindOutcome> => {
  const unclaimed = listing.machines.filter(
    (seen) => seen.description === '' && !intent.existing?.includes(idOf(seen)),
  )
  const fitting = unclaimed.filter((seen) => likeness(seen, wanted) === 'same')
  const [own] = fitting
  if (own && intent.existing && fitting.length === 1) {
    await api.describe('vm', own.name, intent.mark)
    return found(own)
  }
  if (own) return tooMany(fitting)
  const near = unclaimed.filter((seen) => likeness(seen, wanted) === 'near')
  if (near.length > 0) return tooMany(near)
  if (!settled) return unclear('no such machine is listed yet')

  // The balance counts what is really running: an independent witness that the listing hides nothing.
  const balance = await api.balance()
  if (balance.kind !== 'ok')
    return unclear(`the balance could not be read: ${wordsOfAnswer(balance)}`, balance.retryAfterMs)
  const counted = balance.body.virtual_machine_count
  if (counted === listing.machines.length) return { outcome: 'absent' }
  return unclear(
    `Hot Aisle charges for ${counted} virtual machines and lists ${listing.machines.length}; ` +
      'a person must look in its console',
  )
}

/** `near`: so many GPUs as were asked for, or not to be told; not surely ours, not surely another's. */
const likeness = (seen: SeenMachine, wanted: unknown): 'same' | 'near' | 'other' => {
  const asked = specs.safeParse(wanted)
  if (!asked.success) return 'near'
  const gpuCount = (asked.data.gpus ?? []).reduce((sum, { count }) => sum + count, 0)
  if (seen.gpuCount !== undefined && seen.gpuCount !== gpuCount) return 'other'
  const same =
    seen.gpuCount === gpuCount &&
    seen.cpuCores === asked.data.cpu_cores &&
    seen.ramBytes === asked.data.ram_capacity &&
    seen.diskBytes === asked.data.disk_capacity
  return same ? 'same' : 'near'
}

const found = ({ name, deploymentId }: SeenMachine): FindOutcome => ({
  outcome: 'found',
  machine: { cloudId: name, rentalId: deploymentId },
})

const unclear = (message: string, retryAfterMs?: number): FindOutcome => ({
  outcome: 'unclear',
  message,
  retryAfterMs,
})

const tooMany = (machines: SeenMachine[]) =>
  unclear(
    `it can't be told which machine was rented: ${machines.map(({ name }) => name).join(', ')}. A person must ` +
      'look in the Hot Aisle console, and delete or describe the machines that are not wanted; they cost money.',
  )
