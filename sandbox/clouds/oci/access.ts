import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { Clock } from '../../../lib/model/clock.ts'
import type { CloudRequest } from '../gateway.ts'
import type { Call, Reply } from './call.ts'
import type { KeyPair } from './key-pair.ts'
import { notAuthenticated } from './refusal.ts'
import { readToken, writeToken } from './session-tokens.ts'
import { signerOf } from './signature.ts'
import type { CloudState } from './state.ts'
import type { Switches } from './switches.ts'

/** Who signed a request. */
export type Caller = { userId: string; tenancyId: string }

export type Session = { id: string; token: string; privateKey: string }

/** Signatures, API keys, sessions and their tokens. */
export const createAccess = (parts: {
  state: CloudState
  save: () => void
  clock: Clock
  /** Against which the date of a request is held: clients sign by the real clock. */
  wallClock: Clock
  switches: Switches
}) => {
  const { state, save, clock, wallClock, switches } = parts

  const tokenOf = (session: CloudState['sessions'][number]): string => {
    const user = state.users.find(({ id }) => id === session.userId)
    const until = Math.min(clock.now() + switches.tokenLastsMs, session.endsAt)
    return writeToken(
      {
        sub: session.userId,
        tenant: user?.tenancyId ?? '',
        sid: session.id,
        iat: Math.floor(clock.now() / 1000),
        exp: Math.floor(until / 1000),
      },
      state.secret,
    )
  }

  const sessionOf = (token: string, options: { mayBeExpired: boolean }) => {
    const claims = readToken(token, state.secret)
    const session = state.sessions.find(({ id }) => id === claims?.sid)
    if (!claims || !session || clock.now() >= session.endsAt) return undefined
    return clock.now() < claims.exp * 1000 || options.mayBeExpired ? session : undefined
  }

  const keyOf = (keyId: string, options: { mayBeExpired: boolean }) => {
    const session = keyId.startsWith('ST$') ? sessionOf(keyId.slice(3), options) : undefined
    const [tenancyId, userId, fingerprint] = keyId.split('/')
    const user = state.users.find(({ id }) => id === (session?.userId ?? userId))
    if (!user) return undefined
    const caller = { userId: user.id, tenancyId: user.tenancyId }
    if (session) return { ...caller, publicKey: session.publicKey }
    const key = user.keys.find((known) => known.fingerprint === fingerprint)
    return key && user.tenancyId === tenancyId ? { ...caller, publicKey: key.publicKey } : undefined
  }

  return {
    /** Who signed it; throws 401 where nobody did, or in a region that is not theirs. */
    authenticate(request: CloudRequest, region: string, refreshes: boolean): Caller {
      const mayBeExpired = refreshes && !switches.onlyFreshTokensRefresh
      const signer = signerOf(request, (keyId) => keyOf(keyId, { mayBeExpired }), wallClock.now())
      const tenancy = state.tenancies.find(({ id }) => id === signer?.tenancyId)
      // A region that the tenancy has not subscribed to knows none of its users.
      if (!signer || !tenancy?.subscribedRegions.includes(region)) throw notAuthenticated()
      return { userId: signer.userId, tenancyId: signer.tenancyId }
    },

    /** What `oci session authenticate` leaves in a profile. */
    startSession(userId: string, keyPair: KeyPair, lastsMs: number): Session {
      const session = {
        id: randomUUID(),
        userId,
        endsAt: clock.now() + lastsMs,
        publicKey: keyPair.publicKey,
      }
      state.sessions.push(session)
      save()
      return { id: session.id, token: tokenOf(session), privateKey: keyPair.privateKey }
    },

    endSession(id: string) {
      for (const session of state.sessions) if (session.id === id) session.endsAt = clock.now()
      save()
    },

    refresh({ body, caller }: Call): Reply {
      const request = z.object({ currentToken: z.string() }).safeParse(body)
      const session = request.success && sessionOf(request.data.currentToken, { mayBeExpired: true })
      if (!session || session.userId !== caller.userId) throw notAuthenticated()
      return { body: { token: tokenOf(session) } }
    },
  }
}
