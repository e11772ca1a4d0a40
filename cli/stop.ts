import * as z from 'zod'
import { ended, shownInstance } from './answers.ts'
import { openApi } from './api.ts'
import { askFirst, mustBeAsked } from './ask.ts'
import { findInstance } from './find-instance.ts'
import { printer } from './print.ts'
import type { Work } from './surroundings.ts'
import { dollars, moment, prepaidUntil } from './words.ts'

const options = z.object({
  force: z.boolean().default(false),
  yes: z.boolean().default(false),
  json: z.boolean().default(false),
})

const nothing = 'Nothing was stopped.'

/** `berth stop NAME` */
export const stop: Work = async (at, { arguments: [nameOrId = ''], options: written }) => {
  const { force, yes, json } = options.parse(written)
  if (force && !yes) mustBeAsked(at, nothing)
  const api = openApi(at, written)
  const id = await findInstance(api, nameOrId)
  const print = printer(at)
  if (force && !yes) {
    const before = await api.call(shownInstance, 'GET', `/instances/${id}`)
    const lost = whatIsLost(before.value, before.date ?? at.now())
    print.note(lost)
    await askFirst(at, `Give ${before.value.name} back now?`, nothing)
  }
  const { value, raw } = await api.call(ended, 'DELETE', `/instances/${id}?force=${force}`)
  if (json) return print.json(raw)
  for (const line of whatHappens(value)) print.tell(line)
  if (value.forfeited !== undefined) print.tell(`Forfeited: ${value.forfeited}.`)
}

/** What is given up by force, by the numbers of the API. */
const whatIsLost = (it: z.infer<typeof shownInstance>, now: number): string => {
  const use = it.status === 'busy' ? `${it.name} is in use by ${it.holder}; what runs on it ends. ` : ''
  const until = prepaidUntil(it, now)
  if (until === undefined || it.status === 'terminated') return `${use}Nothing prepaid is lost.`
  return `${use}${dollars(it.minimumCharge)} is paid for ${it.name} until ${moment(until)}; what is left of that is forfeited.`
}

const whatHappens = (it: z.infer<typeof ended>): string[] => {
  if (it.status === 'terminated') {
    return [`${it.name} has ended already (${it.terminationReason}), and cost ${dollars(it.accruedCost)}.`]
  }
  if (it.releaseAt === null || it.releaseAt !== it.reservedUntil) {
    return [
      `${it.name} is being given back. It has cost ${dollars(it.accruedCost)} so far. See: berth show ${it.name}`,
    ]
  }
  return [
    `Your use of ${it.name} has ended. It is prepaid, so it is given back at ${moment(it.releaseAt)}; nothing more is charged.`,
    `berth stop ${it.name} --force gives it back now, and forfeits what is left of ${dollars(it.minimumCharge)}.`,
    'It can not be claimed again. Another time, berth release leaves a prepaid machine to the next request.',
  ]
}
