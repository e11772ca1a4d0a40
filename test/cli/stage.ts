import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { runBerth } from '../../cli/run.ts'
import type { Surroundings } from '../../cli/surroundings.ts'
import { newKeyPair } from '../../lib/shim/key-pair.ts'
import { type LocalBerth, startLocalBerth } from '../../sandbox/local/local-berth.ts'

export type Called = { code: number; out: string; err: string }

/** A user of the command: a folder to stand in, a home with an SSH key, and no terminal. */
export const createUser = () => {
  const home = mkdtempSync(join(tmpdir(), 'berth-cli-'))
  const folder = join(home, 'work')
  mkdirSync(join(home, '.ssh'))
  mkdirSync(folder)
  const { privateKey, publicKey } = newKeyPair()
  const keyFile = join(home, '.ssh', 'id_ed25519')
  writeFileSync(keyFile, privateKey, { mode: 0o600 })
  writeFileSync(`${keyFile}.pub`, `${publicKey}\n`)

  const surroundings = (out: Surroundings['out'], err: Surroundings['err']): Surroundings => ({
    out,
    err,
    in: new PassThrough(),
    env: { PATH: process.env.PATH },
    folder,
    home,
    now: () => Date.now(),
    fetch,
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 60))),
    onInterrupt: () => () => {},
    endNow: (exitCode) => {
      throw new Error(`ended with ${exitCode}`)
    },
  })
  /** Runs a command in this process, as if from the user's folder. */
  const berth = async (words: string[], changed: Partial<Surroundings> = {}): Promise<Called> => {
    const [out, err] = [recorder(), recorder()]
    const code = await runBerth({ ...surroundings(out.stream, err.stream), ...changed }, words)
    return { code, out: out.text(), err: err.text() }
  }
  return {
    berth,
    surroundings,
    recorder,
    home,
    folder,
    keyFile,
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}
export type User = ReturnType<typeof createUser>

const recorder = () => {
  const stream = new PassThrough()
  let text = ''
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  return { stream, text: () => text }
}

/** A whole local Berth, whose machines boot at once, below the folder that the user stands in. */
export const startBerth = (user: User, speed = 1): Promise<LocalBerth> => {
  const quiet = () => {}
  return startLocalBerth({
    port: 0,
    data: join(user.folder, '.berth'),
    speed,
    cloudTimings: { hotaisle: { vmBootMs: 0, installMs: 0, resetMs: 0 } },
    log: { info: quiet, warn: quiet, error: quiet, alarm: quiet, metric: quiet },
  })
}

/** An address on this machine where nothing listens. */
export const unusedAddress = async (): Promise<string> => {
  const { url, stop } = await startBetween('', () => 'cut')
  await stop()
  return url
}

type Between = {
  url: string
  seen: { method: string; path: string; key: string | undefined }[]
  stop: () => Promise<void>
}

/** Stands between the command and an API. `alter` may change an answer, or cut the connection after the API has done its work. */
export const startBetween = async (
  target: string,
  alter: (request: IncomingMessage, text: string) => string | 'cut',
): Promise<Between> => {
  const seen: Between['seen'] = []
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const [method = 'GET', path = '/'] = [request.method, request.url]
    const key = request.headers['idempotency-key']
    seen.push({ method, path, key: key === undefined ? undefined : String(key) })
    const answer = await fetch(`${target}${path}`, {
      method,
      headers: {
        authorization: request.headers.authorization ?? '',
        ...(key !== undefined && { 'idempotency-key': String(key) }),
      },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
    const text = alter(request, await answer.text())
    if (text === 'cut') return void request.socket.destroy()
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(text)
  }
  const server = createServer((request, response) => {
    pass(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    seen,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
