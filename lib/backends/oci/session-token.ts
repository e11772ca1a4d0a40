import { z } from 'zod'
import { type Credentials, readCredentialsFile } from './credentials.ts'

/** Sends a signed request as it is, once. */
export type SendSigned = (request: { method: 'POST'; uri: string; body: string }) => Promise<Response>

/**
 * Gets another session token after OCI refused the one that was used: from its file, where another process may have
 * put a new one, or by exchange. True when there is one to try. Requests that are refused at the same time share it.
 */
export const createRenewal = (options: {
  credentials: Credentials
  authEndpoint: string
  send: SendSigned
}): ((used: string | undefined) => Promise<boolean>) => {
  const { credentials, authEndpoint, send } = options
  let running: Promise<boolean> | undefined
  // The file keeps the old token after an exchange: only what is new in it is worth a try.
  let seenInFile = credentials.session?.token

  const renew = async (session: NonNullable<Credentials['session']>): Promise<boolean> => {
    const filed = session.file === undefined ? '' : tokenIn(session.file)
    if (filed !== '' && filed !== seenInFile) {
      session.token = filed
      seenInFile = filed
      return true
    }
    const response = await send({
      method: 'POST',
      uri: `${authEndpoint}/v1/authentication/refresh`,
      body: JSON.stringify({ currentToken: session.token }),
    })
    const answer = response.ok ? refreshed.safeParse(await response.json()) : undefined
    if (!answer?.success) return false
    session.token = answer.data.token
    return true
  }

  return async (used) => {
    const { session } = credentials
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

const tokenIn = (file: string): string => {
  try {
    return readCredentialsFile(file, file).trim()
  } catch {
    // It may just be being written; the exchange is left.
    return ''
  }
}
