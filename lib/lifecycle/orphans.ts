import type { Backend, OwnedMachine } from '../backends/backend.ts'
import type { Context } from '../context.ts'
import type { Billing } from '../model/billing.ts'
import type { Instance } from '../model/instance.ts'
import { type Mark, parseMark } from '../model/mark.ts'
import type { Offer } from '../model/offer.ts'
import { prepaidFrom } from './prepaid.ts'
import { isSameMachine, markOn } from './same-machine.ts'
import { giveBackStray, strayId } from './stray.ts'

/** A machine with our mark that no live record leads to its end. */
type Orphan = {
  machine: OwnedMachine
  mark: string
  /** The instance that the mark names, and its record, if there is one. */
  instanceId: string
  named: Instance | undefined
  /** Of the record that is to lead it to its end. */
  id: string
}

/** The machines of the list that carry our mark, by number, and those that nothing in the table leads to their end. */
export const findOrphans = async (
  ctx: Context,
  backend: Backend,
  machines: OwnedMachine[],
  records: Instance[],
): Promise<{ ours: number; unled: Orphan[] }> => {
  const owner = await ctx.store.owner()
  const ours = machines.flatMap((machine) => {
    const mark = markOn(machine)
    const read = parseMark(mark)
    return mark !== undefined && read?.owner === owner ? { machine, mark, read } : []
  })
  const unlisted = ours.filter(({ machine, mark }) => !records.some((each) => leads(each, machine, mark)))
  const unled = await Promise.all(unlisted.map((each) => lookUp(ctx, backend, each)))
  return { ours: ours.length, unled: unled.flatMap((orphan) => orphan ?? []) }
}

/**
 * Writes the record that leads an orphan to its end, once the cloud confirms that it is there; it is not to be told
 * again. The list may be older than the record that has just ended with its machine.
 */
export const giveBackOrphan = async (
  ctx: Context,
  backend: Backend,
  orphan: Orphan & { since: number },
): Promise<boolean> => {
  const { machine, mark, instanceId, named } = orphan
  const { region, instanceType, cloudId, rentalId, createdAt } = machine
  const seen = await backend.state({ region, instanceType, cloudId, rentalId, mark, rentedAt: createdAt })
  if (seen.state === 'gone' || seen.state === 'stopping') return false
  if (seen.state === 'unknown') {
    const line =
      'a machine with our mark has no record, and its cloud does not say how it is; asked again later'
    ctx.log.warn(line, { backend: backend.type, cloudId, error: seen.message })
    return false
  }
  const own = named?.machine && isSameMachine(named.machine, machine) ? named : undefined
  const terms = own ?? (await offeredTerms(backend, machine))
  const startedAt = own?.startedAt ?? orphan.since
  const stray: Instance = {
    ...(named ? requestOf(named) : noRequest(orphan.id)),
    id: orphan.id,
    version: 0,
    status: 'provisioning',
    phase: 'booting',
    createdAt: ctx.clock.now(),
    backend: backend.type,
    region,
    zone: own?.zone,
    instanceType,
    resources: terms?.resources,
    pricePerHourCents: terms?.pricePerHourCents,
    minimumReservationMinutes: terms?.minimumReservationMinutes,
    minimumChargeCents: terms?.minimumChargeCents,
    billing: own ? billOn(own) : terms?.billing && billFrom(terms.billing, startedAt),
    machine: { cloudId, rentalId, mark },
    startedAt,
    reservation: terms && prepaidFrom(terms, startedAt),
    sshKeys: [],
    attempts: 0,
    visits: 0,
    events: [],
  }
  return giveBackStray(
    ctx,
    stray,
    `${cloudId}, rented for ${instanceId}, has no record that leads to its end`,
  )
}

const leads = (record: Instance, machine: OwnedMachine, mark: string): boolean =>
  record.status !== 'terminated' &&
  (record.intent?.mark === mark || (record.machine !== undefined && isSameMachine(record.machine, machine)))

/** Asks the table itself, since its lists are a moment late: the record that the mark names, and those of a stray. */
const lookUp = async (
  ctx: Context,
  backend: Backend,
  { machine, mark, read }: { machine: OwnedMachine; mark: string; read: Mark },
): Promise<Orphan | undefined> => {
  const { cloudId, rentalId } = machine
  const named = await ctx.store.get(read.instanceId)
  if (named && leads(named, machine, mark)) return undefined
  for (let turn = 0; ; turn++) {
    const id = strayId(backend.type, { cloudId, rentalId, mark }, turn)
    const stray = await ctx.store.get(id)
    if (!stray) return { machine, mark, instanceId: read.instanceId, named, id }
    if (stray.status !== 'terminated') return undefined
  }
}

type Terms = Pick<
  Instance,
  'resources' | 'pricePerHourCents' | 'minimumReservationMinutes' | 'minimumChargeCents' | 'billing'
>

const billFrom = (terms: Billing, startedAt: number): Billing => ({
  ...terms,
  from: terms.startsAt === 'launch' ? startedAt : undefined,
})

/** What its first record has counted is not counted twice. */
const billOn = ({ billing }: Instance): Billing | undefined =>
  billing?.until === undefined ? billing : { ...billing, leastMs: 0, from: billing.until, until: undefined }

/** What such a machine costs, by today's offers; the dearest, where it can't be told which of them it was. */
const offeredTerms = async (
  backend: Backend,
  { region, instanceType }: OwnedMachine,
): Promise<Terms | undefined> => {
  const { offers } = await backend.offers({})
  const such = offers.filter((offer) => offer.region === region && offer.instanceType === instanceType)
  return such.reduce<Offer | undefined>(
    (dearest, offer) => (isDearer(offer, dearest) ? offer : dearest),
    undefined,
  )
}

const isDearer = (one: Offer, other: Offer | undefined) =>
  other === undefined || one.pricePerHourCents > other.pricePerHourCents

/** Whose it was, and what was asked for. */
const requestOf = ({ name, createdBy, wanted, hardwareCheck, idleDuration, maxDuration }: Instance) => ({
  name,
  createdBy,
  wanted,
  hardwareCheck,
  idleDuration,
  maxDuration,
})

const noRequest = (id: string): ReturnType<typeof requestOf> => ({
  name: `berth-${id.slice(2, 8)}`,
  createdBy: 'berth',
  wanted: { requirements: {}, spotPolicy: 'auto' },
  hardwareCheck: 'off',
  idleDuration: 0,
  maxDuration: 'off',
})
