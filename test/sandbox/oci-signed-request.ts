import { request as send } from 'node:http'
import { text } from 'node:stream/consumers'
import { DefaultRequestSigner, type Method } from 'oci-common'
import type { SimulatedOci } from '../../sandbox/clouds/oci/simulated-oci.ts'
import { frankfurt, providerOf, type SignIn } from './oci-stage.ts'

/** A request as it stands on the wire, for a test to tamper with. */
export type RawRequest = { method: string; url: string; headers: Record<string, string>; body?: string }

/** Signed by Oracle's own signer. Headers that are given are signed as they are. */
export const signed = async (
  cloud: SimulatedOci,
  asked: { service: string; path: string; region?: string; method?: Method; body?: unknown },
  signIn: Partial<SignIn> = {},
  given: Record<string, string> = {},
): Promise<RawRequest> => {
  const { service, path, region = frankfurt, method = 'GET' } = asked
  const url = `${cloud.endpoint.replace('{service}', service).replace('{region}', region)}${path}`
  const body = asked.body === undefined ? undefined : JSON.stringify(asked.body)
  const headers = new Headers(given)
  await new DefaultRequestSigner(providerOf(cloud, signIn)).signHttpRequest({
    method,
    uri: url,
    headers,
    ...(body === undefined ? {} : { body }),
  })
  return { method, url, headers: Object.fromEntries(headers), ...(body === undefined ? {} : { body }) }
}

/** Sends it unchanged. The body of the answer is read as JSON where there is one. */
export const deliver = async ({ method, url, headers, body }: RawRequest) => {
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    send(url, { method, headers }, resolve).on('error', reject).end(body)
  })
  const said = await text(response)
  return { status: response.statusCode, body: said === '' ? undefined : JSON.parse(said) }
}
