import type { LaunchOutcome } from '../backend.ts'
import type { Api } from './api.ts'
import { type Answer, wordsOfAnswer } from './client.ts'
import { type Credentials, judge } from './credentials.ts'

type Rejected = Extract<LaunchOutcome, { outcome: 'rejected' }>

/**
 * Puts Berth's public key on the account: machines let in the keys that are there when they are made.
 * Undefined when it is there; else why nothing may be launched. Costs nothing.
 */
export type EnsureKey = (options: { again: boolean }) => Promise<Rejected | undefined>

export const createEnsureKey = (options: {
  api: Api
  credentials: Credentials
  team: string
  sshPublicKey: string
}): EnsureKey => {
  const { api, credentials, team, sshPublicKey } = options
  let known = false

  const upload = async (): Promise<Rejected | undefined> => {
    const answer = await api.addSshKey(sshPublicKey)
    // 409: it is there already.
    if (answer.kind === 'ok' || (answer.kind === 'refused' && answer.status === 409)) return undefined
    if (answer.kind === 'unknown') return rejected('throttled', answer)
    switch (answer.status) {
      case 401: {
        const check = judge(await credentials.standing(), team)
        if (check.ok || check.state === 'unknown') return rejected('throttled', answer)
        return { outcome: 'rejected', code: 'bad_credentials', message: check.message }
      }
      case 403:
        // The key may not add keys; somebody else may have.
        return (await isListed()) ? undefined : rejected('invalid_settings', answer)
      case 400:
      case 422:
        return rejected('invalid_settings', answer)
      default:
        return rejected('throttled', answer)
    }
  }

  const isListed = async () => {
    const keys = await api.sshKeys()
    const own = sshPublicKey.trim().split(/\s+/)[1]
    return keys.kind === 'ok' && keys.body.some((key) => key.public_key === own)
  }

  return async ({ again }) => {
    if (known && !again) return undefined
    const problem = await upload()
    known = problem === undefined
    return problem
  }
}

const rejected = (
  code: 'throttled' | 'invalid_settings',
  answer: Exclude<Answer<unknown>, { kind: 'ok' }>,
): Rejected => {
  const advice =
    code === 'throttled'
      ? 'It will be tried again.'
      : "Add Berth's public key to the account in the Hot Aisle console, or use an API key with the user role owner."
  const message = `Hot Aisle did not take Berth's SSH public key (${wordsOfAnswer(answer)}). Nothing was rented. ${advice}`
  return { outcome: 'rejected', code, message, retryAfterMs: answer.retryAfterMs }
}
