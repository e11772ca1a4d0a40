import * as z from 'zod'
import { type Instance, type InstanceEvent, instance as instanceSchema } from '../model/instance.ts'
import { phase } from '../model/status.ts'
import { dueShards } from './table.ts'

/** Events kept on the record; with more than this, the oldest move to an item of their own. */
const eventsOnRecord = 24
const eventsLeftAfterMove = 8

export const instanceKey = (id: string) => ({ pk: `INSTANCE#${id}`, sk: 'INSTANCE' })

/** The record with the keys of the indexes in which it stands. */
export const toItem = (instance: Instance) => ({
  ...instanceKey(instance.id),
  // What cannot be read back must not be written: one such record would stop every sweep and every list.
  ...instanceSchema.parse(instance),
  events: instance.events.map(eventLine),
  ...(instance.sweepAt === undefined ? {} : { due: `DUE#${shardOf(instance.id)}` }),
  listed: listedUnder(instance),
  ...(instance.reservation ? { reserved: 'RESERVATION', reservedUntil: instance.reservation.until } : {}),
})

/** The record out of an item; throws when the item is not one, which is a fault and never skipped. */
export const fromItem = (item: Record<string, unknown>): Instance =>
  instanceSchema.parse({ ...item, events: readEvents(item.events) })

/**
 * In which list an instance stands. SPARE is looked through for each request; ENDED grows for ever. What is on its way
 * out stays where it was idle, since each move costs two write units.
 */
export const listedUnder = ({ status }: Pick<Instance, 'status'>): 'ACTIVE' | 'SPARE' | 'ENDED' => {
  if (status === 'terminated') return 'ENDED'
  return status === 'idle' || status === 'terminating' ? 'SPARE' : 'ACTIVE'
}

/** An event as it is stored, half the size of a map: `<milliseconds> <phase or status> <message>`. */
export const eventLine = ({ at, status, phase, message }: InstanceEvent): string =>
  `${at} ${phase ?? status} ${message}`

const eventLines = z.array(z.string())

export const readEvents = (lines: unknown): InstanceEvent[] =>
  eventLines.parse(lines).map((line) => {
    const [, at, stage, message] = /^(\d+) (\w+) (.*)$/s.exec(line) ?? []
    const known = phase.safeParse(stage)
    return instanceSchema.shape.events.element.parse({
      at: Number(at),
      ...(known.success ? { status: 'provisioning', phase: known.data } : { status: stage }),
      message,
    })
  })

/** Cuts a long history in two: what stays on the record, and what moves to an item of its own. */
export const splitEvents = (instance: Instance): { kept: Instance; moved: InstanceEvent[] } => {
  if (instance.events.length <= eventsOnRecord) return { kept: instance, moved: [] }
  const at = instance.events.length - eventsLeftAfterMove
  return { kept: { ...instance, events: instance.events.slice(at) }, moved: instance.events.slice(0, at) }
}

/** Spreads instances over the partitions of the `due` index, always the same for one id (FNV-1a). */
const shardOf = (id: string): number => {
  let hash = 0x811c9dc5
  for (const char of id) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193)
  return (hash >>> 0) % dueShards
}
