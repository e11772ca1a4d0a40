import { z } from 'zod'
import type { Session } from './credentials.ts'

/**
 * Gets another session token after OCI refused the one that was used: from its files, where another process may have
 * put a new one, or by exchange. True when there is one to try. Requests that are refused at the same time share it.
 */
export const createRenewal = (options: {
  session: Session | undefined
  authEndpoint: string
  /** Sends a signed request as it is, once. */
  send: (request: { method: 'POST'; uri: string; body: string }) => Promise<Response>
}): ((used: string | undefined) => Promise<boolean>) => {
  const { session, authEndpoint, send } = options
  let running: Promise<boolean> | undefined
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

  return async (used) => {
    if (!session) return false
    if (session.token !== used) return true
    running ??= renew(session)
      .catch(() => false)
      .finally(() => {
        running = undefined
      })
    return running
  }
}

const refreshed = z.object({ token: z.string().min(1) })

const inFiles = ({ reread }: Session) => {
  try {
    return reread?.()
  } catch {
    // They may just be being written; the exchange is left.
    return undefined
  }
}
