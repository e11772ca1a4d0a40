import * as z from 'zod'
import type { Clock } from '../../model/clock.ts'
import type { Session } from './credentials.ts'

export type Renewal = {
  /** After OCI refused a request that was signed with the token `used`: true when there is another one to try. */
  afterRefusal(used: string | undefined): Promise<boolean>
  /** Before a request is signed: a token that has run out may not be exchanged any more, so that is done in time. */
  inTime(): Promise<void>
}

/** How long before its end a token is exchanged, and how long after that did not work it is left. */
const earlyMs = 15 * 60_000
const pauseMs = 60_000

/**
 * Gets another session token: from its files, where another process may have put a new one, or by exchange. Those who
 * need one at the same time share it.
 */
export const createRenewal = (options: {
  session: Session | undefined
  authEndpoint: string
  clock: Clock
  /** Sends a signed request as it is, once. */
  send: (request: { method: 'POST'; uri: string; body: string }) => Promise<Response>
}): Renewal => {
  const { session, authEndpoint, clock, send } = options
  let running: Promise<boolean> | undefined
  let triedAt = Number.NEGATIVE_INFINITY
  // The file keeps the old token after an exchange: only what is new in it is worth a try.
  let seenInFile = session?.token

  const renew = async (own: Session): Promise<boolean> => {
    const filed = inFiles(own)
    if (filed && filed.token !== '' && filed.token !== seenInFile) {
      seenInFile = filed.token
      Object.assign(own, filed)
      return true
    }
    const response = await send({
      method: 'POST',
      uri: `${authEndpoint}/v1/authentication/refresh`,
      body: JSON.stringify({ currentToken: own.token }),
    })
    const answer = response.ok ? refreshed.safeParse(await response.json()) : undefined
    if (!answer?.success) return false
    own.token = answer.data.token
    return true
  }

  const shared = (own: Session): Promise<boolean> => {
    triedAt = clock.now()
    running ??= renew(own)
      .catch(() => false)
      .finally(() => {
        running = undefined
      })
    return running
  }

  return {
    afterRefusal: async (used) => {
      if (!session) return false
      return session.token === used ? shared(session) : true
    },
    inTime: async () => {
      if (!session || endOf(session.token) - clock.now() > earlyMs) return
      if (running || clock.now() - triedAt >= pauseMs) await shared(session)
    },
  }
}

const refreshed = z.object({ token: z.string().min(1) })

const claims = z.object({ exp: z.number() })

/** When a token runs out, in milliseconds since 1970; never, as far as it does not say. */
const endOf = (token: string): number => {
  try {
    const body = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')
    return claims.parse(JSON.parse(body)).exp * 1000
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

const inFiles = ({ reread }: Session) => {
  try {
    return reread?.()
  } catch {
    // They may just be being written; the exchange is left.
    return undefined
  }
}
