import type { HttpClient, HttpRequest } from 'oci-common'
import * as z from 'zod'
import type { Clock } from '../../model/clock.ts'
import { messageOf } from '../../model/errors.ts'
import { createPauses, readRetryAfter } from '../pauses.ts'
import { type Failure, failed, OciFailure } from './answer.ts'
import type { Credentials } from './credentials.ts'
import type { Sdk } from './sdk.ts'
import { createRenewal } from './session-token.ts'

/** Milliseconds. A launch is answered slowly, and its answer is worth waiting for. */
export type Timeouts = { callMs: number; launchMs: number }

export const defaultTimeouts: Timeouts = { callMs: 15_000, launchMs: 40_000 }

/**
 * The way from Oracle's SDK to the network: signs, sends once, and renews a session token that ran out. Nothing is sent
 * a second time but what was refused for its signature: a launch costs money. As long as a region's host asked for no
 * more requests, none is sent to it.
 */
export const createHttpClient = (options: {
  sdk: Sdk
  credentials: Credentials
  authEndpoint: string
  clock: Clock
  fetch: typeof fetch
  timeouts: Timeouts
}): HttpClient => {
  const { credentials, timeouts } = options
  const sign = signerOf(options)
  const pauses = createPauses(options.clock)
  const retryAfterOf = (response: Response) =>
    readRetryAfter(response.headers.get('retry-after'), options.clock)

  const sendSigned = async (request: SignedParts, timeoutMs: number): Promise<Response> => {
    const { host } = new URL(request.uri)
    const pause = pauses.at(host)
    if (pause) {
      const failure = failed(undefined, 'NotSent', pause.words)
      throw new OciFailure({ ...failure, sent: false, retryAfterMs: pause.leftMs })
    }
    // Both are of the request before, where this one is sent again.
    request.headers.delete('authorization')
    request.headers.delete('x-date')
    await sign(request)
    const response = await options.fetch(request.uri, {
      method: request.method,
      headers: request.headers,
      body: request.body ?? null,
      // A redirect that is followed would send a paid request twice.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    pauses.heed(host, response.status, retryAfterOf(response))
    return response
  }
  const renewal = createRenewal({
    clock: options.clock,
    authEndpoint: options.authEndpoint,
    session: credentials.session,
    send: (request) => sendSigned({ ...request, headers: new Headers() }, timeouts.callMs),
  })

  const answer = async (request: SignedParts, timeoutMs: number): Promise<Response> => {
    await renewal.inTime()
    const used = credentials.session?.token
    const response = await sendSigned(request, timeoutMs)
    return response.status === 401 && (await renewal.afterRefusal(used))
      ? sendSigned(request, timeoutMs)
      : response
  }

  return {
    send: async (request, _excludeBody, _service, operation) => {
      const timeoutMs = operation === 'launchInstance' ? timeouts.launchMs : timeouts.callMs
      try {
        const response = await answer(partsOf(request), timeoutMs)
        if (response.ok) return response
        const failure = await failureOf(response, credentials.advice)
        return failing({ ...failure, retryAfterMs: retryAfterOf(response) })
      } catch (error) {
        if (error instanceof OciFailure) return failing(error.failure)
        return failing(networkFailure(error, timeoutMs))
      }
    },
  }
}

type SignedParts = { method: HttpRequest['method']; uri: string; headers: Headers; body?: string }

/** Every body that Berth sends is JSON. */
const partsOf = ({ method, uri, headers, body }: HttpRequest): SignedParts => ({
  method,
  uri,
  headers,
  ...(typeof body === 'string' && { body }),
})

const signerOf = ({ sdk, credentials }: { sdk: Sdk; credentials: Credentials }) => {
  const signer = new sdk.common.DefaultRequestSigner({
    getKeyId: async () => credentials.keyId(),
    getPrivateKey: () => credentials.privateKey(),
    getPassphrase: () => null,
  })
  return async (request: SignedParts): Promise<void> => {
    try {
      await signer.signHttpRequest(request)
    } catch {
      // The reason may repeat the token. Nothing was sent.
      const message =
        'Requests to OCI can not be signed: the session token or another value of creds has line breaks in it, or the ' +
        'key is not one for it. Write each on one line'
      throw new OciFailure(failed(401, 'NotAuthenticated', message))
    }
  }
}

/**
 * The SDK prints every failure to the console, and drops its headers and its cause. So a failure passes it as a success
 * that throws as soon as it is looked into, which every call of the SDK does.
 */
const failing = (failure: Failure): Response =>
  new Proxy(new Response(null), {
    get: (response, key) => {
      if (key === 'headers' || key === 'json') throw new OciFailure(failure)
      return Reflect.get(response, key)
    },
  })

const refusal = z.object({ code: z.string(), message: z.string() })

const failureOf = async (response: Response, advice: string): Promise<Failure> => {
  const text = await response.text()
  const { code, message } = refusal.safeParse(parseJson(text)).data ?? { code: 'None', message: text }
  const words = oneLine(message) || 'no text'
  return failed(
    response.status,
    code,
    response.status === 401 ? advice : `${response.status} ${code}: ${words}`,
  )
}

const networkFailure = (error: unknown, timeoutMs: number): Failure => {
  const isLate = error instanceof Error && error.name === 'TimeoutError'
  const words = isLate ? `no answer within ${timeoutMs / 1000} s` : messageOf(error)
  const { code } = coded.safeParse(error instanceof Error ? error.cause : undefined).data ?? { code: '' }
  const reason = code === '' || isLate ? words : `${words}: ${code}`
  return { ...failed(undefined, isLate ? 'TimeOut' : 'NoAnswer', reason), sent: !neverSent.has(code) }
}

const coded = z.object({ code: z.string() })

/** The connection was refused, or the name has no address: nothing was sent. */
const neverSent = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'])

const oneLine = (text: string) => text.trim().replace(/\s+/g, ' ').slice(0, 300)

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
