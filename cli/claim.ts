import * as z from 'zod'
import { claimRequest } from '../lib/model/request.ts'
import { shownInstance } from './answers.ts'
import { openApi } from './api.ts'
import { findInstance } from './find-instance.ts'
import { printer } from './print.ts'
import { keyLine, publicKeys, sshKeyOption } from './ssh-keys.ts'
import type { Work } from './surroundings.ts'
import { checked, given } from './usage.ts'
import { dollars, moment, prepaidUntil } from './words.ts'

const claimOptions = z.object({
  hold: z.string().optional(),
  sshKey: sshKeyOption,
  json: z.boolean().default(false),
})
const releaseOptions = z.object({ json: z.boolean().default(false) })

/** `berth claim NAME` */
export const claim: Work = async (at, { arguments: [nameOrId = ''], options: written }) => {
  const { hold, sshKey, json } = claimOptions.parse(written)
  const { keys, from } = publicKeys(at, sshKey)
  const body = given({ hold, sshKeys: keys })
  checked(claimRequest, body)
  const api = openApi(at, written)
  const id = await findInstance(api, nameOrId)
  const { value, raw } = await api.call(shownInstance, 'POST', `/instances/${id}/claim`, { body })
  const print = printer(at)
  print.note(keyLine(from, 'No SSH key is given; --ssh-key FILE lets one in'))
  if (json) return print.json(raw)
  const until = value.holdUntil ? `, held until ${moment(value.holdUntil)}` : ''
  print.tell(`${value.name} is yours (${value.holder}${until}). Enter it: berth ssh ${value.name}`)
}

/** `berth release NAME` */
export const release: Work = async (at, { arguments: [nameOrId = ''], options: written }) => {
  const api = openApi(at, written)
  const id = await findInstance(api, nameOrId)
  const { value, raw, date } = await api.call(shownInstance, 'POST', `/instances/${id}/release`, { body: {} })
  const print = printer(at)
  if (releaseOptions.parse(written).json) return print.json(raw)
  print.tell(`${value.name} is released. ${whatNow(value, date ?? at.now())}`)
}

const whatNow = (it: z.infer<typeof shownInstance>, now: number): string => {
  if (it.status === 'terminating' || it.status === 'terminated') return `It is ${it.status}.`
  if (it.status !== 'idle') return 'It will be idle once it is ready.'
  const rule =
    it.idleDuration === 'off'
      ? 'It stays until it is stopped'
      : `It is given back when idle for ${it.idleDuration}`
  const until = prepaidUntil(it, now)
  if (until === undefined) return `${rule}, and costs ${dollars(it.pricePerHour)} an hour until then.`
  return `${rule}, but not while it is prepaid (until ${moment(until)}): the next request that fits gets it at no new charge.`
}
