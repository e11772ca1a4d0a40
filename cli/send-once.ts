import type { ShownInstance } from './answers.ts'
import { shownInstance } from './answers.ts'
import { type Answer, type Api, NoAnswer } from './api.ts'
import { Failure } from './failure.ts'
import type { printer } from './print.ts'
import type { Surroundings } from './surroundings.ts'

const pausesMs = [1000, 2000, 4000, 8000]

/**
 * Asks for one rental. An answer that gets lost is asked for again with the same key, which never rents twice; where
 * none comes at all, the Failure says how to go on without renting twice.
 */
export const sendOnce = async (
  at: Surroundings,
  api: Api,
  request: { body: object; key: string },
  print: ReturnType<typeof printer>,
): Promise<Answer<ShownInstance>> => {
  const { body, key } = request
  for (const pauseMs of [...pausesMs, undefined]) {
    try {
      return await api.call(shownInstance, 'POST', '/instances', {
        body,
        headers: { 'idempotency-key': key },
      })
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error
      if (pauseMs === undefined) {
        throw new Failure('failed', error.message, [
          'Whether anything was rented is not known. See: berth ps',
          `The same command with --idempotency-key ${key} goes on with this request, and never rents twice.`,
        ])
      }
      print.note(
        `${error.message} The same request is sent again in ${pauseMs / 1000} s; it never rents twice.`,
      )
      await at.pause(pauseMs)
    }
  }
  throw new Error('the last try returns or throws')
}
