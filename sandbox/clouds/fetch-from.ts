import type { CloudRequest, Gateway } from './gateway.ts'

/** A `fetch` that goes straight to a simulated cloud, without a network in between. */
export const fetchFrom = (gateway: Gateway): typeof fetch => {
  const stopped = new AbortController().signal
  return async (input, init) => {
    const answered = await gateway(requestOf(input, init), { hasLeft: () => false, stopped })
    if (answered === 'cut') throw new TypeError('fetch failed', { cause: { code: 'UND_ERR_SOCKET' } })
    const { status, headers, body } = answered
    return new Response(status === 204 ? null : (body ?? ''), { status, headers })
  }
}

/** As it would come in over HTTP. Throws where the body is anything but text: Berth sends nothing else. */
const requestOf = (
  input: Parameters<typeof fetch>[0],
  { method = 'GET', headers, body }: RequestInit = {},
): CloudRequest => {
  if (body !== undefined && body !== null && typeof body !== 'string')
    throw new Error('only text can be sent')
  const url = new URL(input instanceof Request ? input.url : input)
  const bytes = Buffer.from(body ?? '')
  return {
    method,
    path: `${url.pathname}${url.search}`,
    headers: {
      host: url.host,
      ...(bytes.length > 0 && { 'content-length': String(bytes.length) }),
      ...Object.fromEntries(new Headers(headers)),
    },
    body: bytes,
  }
}
