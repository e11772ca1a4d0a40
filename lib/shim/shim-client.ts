import http from 'node:http'
import type { Duplex } from 'node:stream'
import * as z from 'zod'
import { ShimUnreachable } from './shim.ts'

/** The agent listens here, on the machine's loopback alone. */
export const shimPort = 10998

const maxBody = 1_000_000

const healthcheck = z.object({ service: z.literal('dstack-shim'), version: z.string() })
const info = z.object({ gpu_vendor: z.string().nullish(), gpu_driver_version: z.string().nullish() })
const instanceHealth = z.object({
  dcgm: z
    .object({
      overall_health: z.int(),
      incidents: z
        .array(z.object({ system: z.string().nullish(), error_message: z.string().nullish() }))
        .nullish(),
    })
    .nullish(),
})
const tasks = z.object({ tasks: z.array(z.object({ id: z.string(), status: z.string() })).nullable() })

export type ShimClient = ReturnType<typeof createShimClient>

/**
 * The agent's HTTP API, each call over a stream of its own (it has no authentication: its reach is the SSH login).
 * Every call throws ShimUnreachable `agent` where the agent doesn't answer in time or not as it should.
 */
export const createShimClient = (options: { open: () => Promise<Duplex>; timeoutMs: number }) => {
  const ask = async <Answer>(path: string, schema: z.ZodType<Answer>, missing?: Answer): Promise<Answer> => {
    const { status, body } = await get(await options.open(), path, options.timeoutMs)
    if (status === 404 && missing !== undefined) return missing
    const parsed = status === 200 ? schema.safeParse(parseJson(body)) : undefined
    if (parsed?.success) return parsed.data
    const words = parsed ? 'an answer of another form' : `HTTP ${status}`
    throw new ShimUnreachable('agent', `the agent answered ${path} with ${words}: ${body.slice(0, 200)}`)
  }
  return {
    healthcheck: () => ask('/api/healthcheck', healthcheck),
    info: () => ask('/api/instance/info', info),
    /** An older agent may not have this: then nothing is known. */
    instanceHealth: () => ask('/api/instance/health', instanceHealth, { dcgm: null }),
    tasks: async () => (await ask('/api/tasks', tasks)).tasks ?? [],
  }
}

const get = (stream: Duplex, path: string, timeoutMs: number) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    const fail = (words: string, cause?: unknown) => {
      clearTimeout(timer)
      stream.destroy()
      reject(new ShimUnreachable('agent', `the agent does not answer ${path}: ${words}`, { cause }))
    }
    const timer = setTimeout(() => fail(`nothing came within ${timeoutMs} ms`), timeoutMs)
    const request = http.request(
      {
        host: '127.0.0.1',
        port: shimPort,
        path,
        headers: { connection: 'close' },
        // Holds only without an `agent`: with one, even `false`, Node would dial this host's own port.
        createConnection: () => stream,
      },
      (response) => {
        const chunks: Buffer[] = []
        let bytes = 0
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes > maxBody) fail(`more than ${maxBody} bytes came`)
          else chunks.push(chunk)
        })
        response.on('error', (error) => fail(error.message, error))
        response.on('end', () => {
          clearTimeout(timer)
          stream.destroy()
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') })
        })
      },
    )
    request.on('error', (error) => fail(error.message, error))
    request.end()
  })

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
