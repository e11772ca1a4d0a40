import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { checkAnswer } from './answers-as-documented.ts'
import { type LedgerRow, readLedgers } from './ledgers.ts'

const client = z.object({ apiKey: z.string() })
const shown = z.object({
  id: z.string(),
  status: z.string(),
  cloudId: z.string().nullable(),
  terminationReason: z.string().nullable(),
})

/** No server, or one that went away before its answer was whole: whether it did anything is not known. */
export class NotAnswered extends Error {}

/** Compiled code is kept between starts, which take half a second less with it. Node knows what has changed. */
const compileCache = join(tmpdir(), 'berth-test-compiled')

/** `npm start` as a process of its own on a folder of its own, to be killed and started again. */
export const localServer = (data = mkdtempSync(join(tmpdir(), 'berth-test-'))) => {
  let child: ChildProcess | undefined
  let url: string | undefined
  let output = ''
  let isOver = false
  const call = async (
    method: string,
    path: string,
    more: { body?: object; headers?: Record<string, string> } = {},
  ): Promise<{ status: number; body: unknown }> => {
    if (isOver) throw new Error('the test is over')
    if (url === undefined) throw new NotAnswered('no server')
    const { apiKey } = client.parse(JSON.parse(readFileSync(join(data, 'client.json'), 'utf8')))
    const headers = { authorization: `Bearer ${apiKey}`, ...more.headers }
    const body = more.body && JSON.stringify(more.body)
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body }) })
      .then(async (response) => ({
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await response.text(),
      }))
      .catch((error: unknown) => {
        throw new NotAnswered(`${method} ${path}`, { cause: error })
      })
    checkAnswer(method, path, answer)
    return { status: answer.status, body: JSON.parse(answer.body) }
  }
  const listed = async (query: string) =>
    z.object({ instances: z.array(shown) }).parse((await call('GET', `/instances${query}`)).body).instances
  /** Resolves when the process has ended by the signal. False when it had ended by itself. */
  const signal = async (name: 'SIGKILL' | 'SIGTERM'): Promise<boolean> => {
    const ending = child
    url = undefined
    child = undefined
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return false
    const ended = once(ending, 'exit')
    ending.kill(name)
    await ended
    return true
  }
  return {
    data,
    /** What every start so far has said. */
    output: () => output,
    /** Resolves when the server is ready. */
    start: async (speed: number) => {
      const args = ['sandbox/start.ts', '--port', '0', '--data', data, '--speed', String(speed)]
      const started = spawn(process.execPath, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
      })
      child = started
      let said = ''
      let isReady = false
      await new Promise<void>((resolve, reject) => {
        const read = (chunk: Buffer) => {
          output += chunk.toString()
          if (isReady) return
          said += chunk.toString()
          const ready = /Berth is ready on (\S+)\n/.exec(said)
          if (!ready || child !== started) return
          isReady = true
          url = ready[1]
          resolve()
        }
        started.stdout?.on('data', read)
        started.stderr?.on('data', read)
        started.once('exit', () => reject(new Error(`it did not start: ${said}`)))
      })
    },
    signal,
    rent: async (body: object, key: string) =>
      shown.parse((await call('POST', '/instances', { body, headers: { 'idempotency-key': key } })).body),
    /** The HTTP status of the answer. */
    release: async (id: string) => (await call('POST', `/instances/${id}/release`)).status,
    remove: async (id: string, force: boolean) =>
      (await call('DELETE', `/instances/${id}?force=${force}`)).status,
    live: () => listed(''),
    ended: () => listed('?status=terminated'),
    /** What the simulated clouds have written down, whether or not anything runs. */
    ledgers: (): LedgerRow[] => readLedgers(join(data, 'clouds')),
    /** Ends it for good: whoever goes on asking is told so. */
    end: async () => {
      isOver = true
      await signal('SIGTERM')
      rmSync(data, { recursive: true, force: true })
    },
  }
}
