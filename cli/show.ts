import * as z from 'zod'
import { withHistory } from './answers.ts'
import { openApi } from './api.ts'
import { findInstance } from './find-instance.ts'
import { printer } from './print.ts'
import { statusInWords } from './status-words.ts'
import type { Work } from './surroundings.ts'
import { dollars, moment, resourcesInWords } from './words.ts'

const options = z.object({ json: z.boolean().default(false) })

/** `berth show NAME` */
export const show: Work = async (at, { arguments: [nameOrId = ''], options: written }) => {
  const api = openApi(at, written)
  const id = await findInstance(api, nameOrId)
  const { value, raw } = await api.call(withHistory, 'GET', `/instances/${id}`)
  const print = printer(at)
  if (options.parse(written).json) return print.json(raw)
  for (const [name, text] of factsOf(value, print.styled)) {
    if (text !== undefined) print.tell(`${print.styled('bold', `${name}:`.padEnd(16))}${text}`)
  }
  print.tell('')
  print.table(
    ['TIME (UTC)', 'STATUS', 'WHAT HAPPENED'],
    value.events.map(({ at: time, status, phase, message }) => [
      `${time.slice(0, 10)} ${time.slice(11, 19)}`,
      phase ?? status,
      message,
    ]),
  )
}

const factsOf = (
  it: z.infer<typeof withHistory>,
  styled: ReturnType<typeof printer>['styled'],
): [name: string, text: string | undefined][] => [
  ['Name', it.name],
  ['Id', it.id],
  ['Status', statusInWords(styled, it)],
  ['Why it ended', it.terminationMessage ?? undefined],
  ['Machine', it.instanceType === null ? undefined : `${it.instanceType} on ${placeOf(it)}`],
  ['Resources', it.resources === null ? undefined : resourcesInWords(it.resources)],
  [
    'Hardware',
    it.hardware === null ? undefined : [it.hardware.verdict, ...it.hardware.differences].join('; '),
  ],
  ['Cloud id', it.cloudId ?? undefined],
  ['SSH', it.hostname === null ? undefined : `${it.sshUsername}@${it.hostname} port ${it.sshPort}`],
  ['Host key', it.hostKeyFingerprint ?? undefined],
  [
    'Holder',
    it.holder === null
      ? undefined
      : `${it.holder}${it.holdUntil ? `, held until ${moment(it.holdUntil)}` : ''}`,
  ],
  ['Created', moment(it.createdAt)],
  ['Rented', it.startedAt === null ? undefined : moment(it.startedAt)],
  ['Last active', it.lastActivityAt === null ? undefined : moment(it.lastActivityAt)],
  ['Idle since', it.idleSince === null ? undefined : moment(it.idleSince)],
  ['Unreachable', it.unreachableSince === null ? undefined : `since ${moment(it.unreachableSince)}`],
  ['Ends', it.terminatedAt === null ? endOf(it) : undefined],
  [
    'Prepaid',
    it.reservedUntil === null
      ? undefined
      : `until ${moment(it.reservedUntil)} (${dollars(it.minimumCharge)})`,
  ],
  ['Given back', it.releaseAt === null ? undefined : moment(it.releaseAt)],
  ['Gone', it.terminatedAt === null ? undefined : moment(it.terminatedAt)],
  ['Price', it.pricePerHour === null ? undefined : `${dollars(it.pricePerHour)} an hour`],
  [it.terminatedAt === null ? 'Cost so far' : 'Cost', dollars(it.accruedCost)],
]

const placeOf = ({ backend, region, zone }: z.infer<typeof withHistory>): string =>
  `${backend} (${region}${zone ? `, ${zone}` : ''})`

const endOf = ({ idleDuration, maxDuration }: z.infer<typeof withHistory>): string => {
  const idle = idleDuration === 'off' ? 'when it is stopped' : `when idle for ${idleDuration}`
  return maxDuration === 'off' ? idle : `${idle}, after ${maxDuration} at the latest`
}
