import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'

const client = z.object({ url: z.string(), apiKey: z.string() })
const rentals = z.object({
  rentals: z.array(z.object({ name: z.string(), description: z.string(), endedAt: z.number().nullable() })),
})
const shown = z.object({
  id: z.string(),
  status: z.string(),
  phase: z.string().nullable(),
  cloudId: z.string().nullable(),
  terminationReason: z.string().nullable(),
})
export type Shown = z.infer<typeof shown>

/** `npm start` as a process of its own on a folder of its own, to be killed and started again. */
export const localServer = (speed: number, data = mkdtempSync(join(tmpdir(), 'berth-test-'))) => {
  let child: ChildProcess | undefined
  let output = ''
  const readClient = () => client.parse(JSON.parse(readFileSync(join(data, 'client.json'), 'utf8')))
  const call = async (
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<unknown> => {
    const { url, apiKey } = readClient()
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    return response.json()
  }
  const listed = async (query: string) =>
    z.object({ instances: z.array(shown) }).parse(await call('GET', `/instances${query}`)).instances
  return {
    data,
    output: () => output,
    start: async () => {
      output = ''
      const args = ['sandbox/start.ts', '--port', '0', '--data', data, '--speed', String(speed)]
      const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
      child = started
      await new Promise<void>((resolve, reject) => {
        const read = (chunk: Buffer) => {
          output += chunk.toString()
          if (output.includes('Berth is ready on')) resolve()
        }
        started.stdout?.on('data', read)
        started.stderr?.on('data', read)
        started.once('exit', () => reject(new Error(`it did not start: ${output}`)))
      })
    },
    signal: async (signal: 'SIGKILL' | 'SIGTERM') => {
      const ending = child
      if (!ending || ending.exitCode !== null) return
      const ended = once(ending, 'exit')
      ending.kill(signal)
      await ended
    },
    rent: async (body: object, key: string) =>
      shown.parse(await call('POST', '/instances', body, { 'idempotency-key': key })),
    show: async (id: string) => shown.parse(await call('GET', `/instances/${id}`)),
    live: () => listed(''),
    ended: () => listed('?status=terminated'),
    /** What the simulated cloud has written down, whether or not anything runs. */
    rentals: () =>
      rentals.parse(JSON.parse(readFileSync(join(data, 'clouds', 'hotaisle.json'), 'utf8'))).rentals,
    clean: () => rmSync(data, { recursive: true, force: true }),
  }
}
