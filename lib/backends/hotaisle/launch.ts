import type { Clock } from '../../model/clock.ts'
import { messageOf } from '../../model/errors.ts'
import type { LaunchOutcome, RejectionCode, Rental } from '../backend.ts'
import type { SeenMachine } from './answers.ts'
import type { Api } from './api.ts'
import { type Answer, wordsOfAnswer } from './client.ts'
import { type Credentials, judge } from './credentials.ts'
import { type Kind, kindNames, payload } from './kinds.ts'
import type { EnsureKey } from './ssh-key.ts'

/** The one paid call. Whatever answer is not a proved refusal is `unknown`: then a machine may exist. */
export const launchMachine = async (
  parts: {
    api: Api
    credentials: Credentials
    ensureKey: EnsureKey
    team: string
    bareMetal: boolean
    clock: Clock
  },
  { intent }: Rental,
): Promise<LaunchOutcome> => {
  const { api, ensureKey } = parts
  const offer = payload.safeParse(intent.payload)
  if (!offer.success) return reject('gone', `The offer can't be read: ${messageOf(offer.error)}`)
  const { kind, specs } = offer.data
  if (kind === 'bm' && !parts.bareMetal) {
    return reject('invalid_settings', 'Bare metal is not enabled; set bare_metal: true to rent it.')
  }
  const create = () => api.create(kind, kind === 'vm' ? specs : { specs, description: intent.mark })

  const noKey = await ensureKey({ again: false })
  if (noKey) return noKey
  let at = parts.clock.now()
  let answer = await create()
  if (isRefused(answer, 428)) {
    // No key on the account: somebody took it off since. Refused, so nothing was made yet.
    const stillNoKey = await ensureKey({ again: true })
    if (stillNoKey) return stillNoKey
    at = parts.clock.now()
    answer = await create()
  }
  if (answer.kind === 'ok') {
    const { name, deploymentId } = answer.body
    // A VM has no field for it at create. Should this fail, `find` and `state` set it later.
    if (kind === 'vm') await api.describe(kind, name, intent.mark)
    return { outcome: 'launched', machine: { cloudId: name, rentalId: deploymentId }, at }
  }
  if (answer.kind === 'unknown') {
    const { message, retryAfterMs } = answer
    if (answer.why === 'not_sent')
      return { ...reject('throttled', `${message}. Nothing was rented.`), retryAfterMs }
    return { outcome: 'unknown', message, retryAfterMs }
  }
  return judgeRefusal(parts, kind, answer)
}

type Refused = Extract<Answer<SeenMachine>, { kind: 'refused' }>

/** Hot Aisle's status codes mean different things for the two kinds, and 401 is not about the key. */
const judgeRefusal = async (
  { credentials, team }: { credentials: Credentials; team: string },
  kind: Kind,
  answer: Refused,
): Promise<LaunchOutcome> => {
  const said = `Hot Aisle refused the ${kindNames[kind]} (${wordsOfAnswer(answer)}). Nothing was rented.`
  switch (answer.status) {
    case 400:
      // Bare metal: "invalid specifications or insufficient resources".
      return kind === 'bm' ? reject('gone', said) : reject('invalid_settings', said)
    case 401:
    case 403: {
      const check = judge(await credentials.standing(), team)
      if (!check.ok && check.state === 'bad') return reject('bad_credentials', check.message)
      return reject(
        'no_quota',
        `${said} The team is at its limit: ask Hot Aisle to raise it, or free a machine.`,
      )
    }
    case 402:
      return reject(
        'no_balance',
        `${said} The team's balance is too low: add credits in the Hot Aisle console.`,
      )
    case 404:
      return reject('gone', `${said} Somebody else took the last one.`)
    case 422:
      return reject('invalid_settings', said)
    case 428:
      return reject('invalid_settings', `${said} Add Berth's SSH public key in the Hot Aisle console.`)
    case 429:
      return { ...reject('throttled', said), retryAfterMs: answer.retryAfterMs }
    default:
      return { outcome: 'unknown', message: wordsOfAnswer(answer), retryAfterMs: answer.retryAfterMs }
  }
}

const isRefused = (answer: Answer<unknown>, status: number) =>
  answer.kind === 'refused' && answer.status === status

const reject = (code: RejectionCode, message: string) => ({
  outcome: 'rejected' as const,
  code,
  message,
})
