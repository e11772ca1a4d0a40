import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import ssh2, { type ClientChannel } from 'ssh2'
import { ShimUnreachable, type SshTarget } from './shim.ts'

type SshOptions = {
  privateKey: string
  /** Milliseconds until the connection must stand, from the first packet to the login. */
  connectMs: number
}

type Executed = { code: number | undefined; stdout: string; stderr: string }

export type SshConnection = {
  readonly hostKeyFingerprint: string
  /** Runs a command in the login shell, `input` on its standard input. Output is bounded by `maxOutput` bytes. */
  exec(command: string, options: { timeoutMs: number; input?: string; maxOutput?: number }): Promise<Executed>
  /** A stream to 127.0.0.1:`port` on the machine. Nothing listening there is a fault of the agent. */
  forward(port: number, options: { timeoutMs: number }): Promise<Duplex>
  close(): void
}

/** Opens one connection. Throws ShimUnreachable, `wrong_host_key` when a pinned key is not the one that is met. */
export const connectSsh = (target: SshTarget, options: SshOptions): Promise<SshConnection> =>
  new Promise((resolve, reject) => {
    const client = new ssh2.Client()
    const where = `${target.username}@${target.hostname}:${target.port}`
    const lost = new AbortController()
    let met = ''
    const fail = (kind: ShimUnreachable['kind'], message: string, cause?: unknown) => {
      clearTimeout(timer)
      client.destroy()
      const error = new ShimUnreachable(kind, message, { cause })
      reject(error)
      lost.abort(error)
    }
    const timer = setTimeout(
      () => fail('unreachable', `SSH to ${where} did not answer within ${options.connectMs} ms`),
      options.connectMs,
    )
    client.on('error', (error) => {
      if (met !== '' && target.hostKeyFingerprint !== undefined && met !== target.hostKeyFingerprint) {
        const words = `${where} shows the host key ${met}, pinned is ${target.hostKeyFingerprint}`
        fail('wrong_host_key', words, error)
      } else fail('unreachable', `SSH to ${where} failed: ${error.message}`, error)
    })
    client.on('close', () => fail('unreachable', `SSH to ${where} was closed`))
    client.on('ready', () => {
      clearTimeout(timer)
      resolve({
        hostKeyFingerprint: met,
        exec: (command, limits) => exec(client, lost.signal, command, limits),
        forward: (port, limits) => forward(client, lost.signal, port, limits),
        close: () => {
          client.end()
          lost.abort(new ShimUnreachable('unreachable', `SSH to ${where} was closed`))
        },
      })
    })
    try {
      client.connect({
        host: target.hostname,
        port: target.port,
        username: target.username,
        privateKey: options.privateKey,
        readyTimeout: 0,
        keepaliveInterval: 10_000,
        keepaliveCountMax: 3,
        // A server has a key of each kind. The order is fixed here, so that an update of ssh2 can't choose another
        // kind and make every pinned machine look wrong.
        algorithms: { serverHostKey: hostKeyOrder },
        hostVerifier: (key: Buffer) => {
          met = fingerprintOf(key)
          return target.hostKeyFingerprint === undefined || met === target.hostKeyFingerprint
        },
      })
      // Small packets go back and forth; held back to be gathered, each round costs 40 ms more.
      client.setNoDelay(true)
    } catch (error) {
      // ssh2 throws for a key it can't read; its message names the format, never the key.
      fail('unreachable', `SSH to ${where} failed: ${error instanceof Error ? error.message : error}`)
    }
  })

/** As `ssh-keygen -lf` prints it. */
export const fingerprintOf = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`

export const hostKeyOrder: ssh2.ServerHostKeyAlgorithm[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
]

const exec = (
  client: ssh2.Client,
  lost: AbortSignal,
  command: string,
  { timeoutMs, input = '', maxOutput = 1_000_000 }: { timeoutMs: number; input?: string; maxOutput?: number },
) =>
  bounded<Executed>(lost, timeoutMs, `a command did not end within ${timeoutMs} ms`, (resolve, reject) => {
    let channel: ClientChannel | undefined
    let stopped = false
    client.exec(command, (error, opened) => {
      if (error) return reject(new ShimUnreachable('unreachable', `no command can be run: ${error.message}`))
      channel = opened
      if (stopped) return opened.close()
      const out: Buffer[] = []
      const err: Buffer[] = []
      let bytes = 0
      let exited = false
      let code: number | undefined
      const keep = (list: Buffer[]) => (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > maxOutput)
          reject(new ShimUnreachable('unreachable', `a command said more than ${maxOutput} bytes`))
        else list.push(chunk)
      }
      opened.on('data', keep(out))
      opened.stderr.on('data', keep(err))
      opened.on('error', (broken: Error) => reject(new ShimUnreachable('unreachable', broken.message)))
      opened.on('exit', (status: number | null) => {
        exited = true
        code = status ?? undefined
      })
      opened.on('close', () => {
        // Half an answer must not pass for a whole one.
        if (exited) resolve({ code, stdout: textOf(out), stderr: textOf(err) })
        else reject(new ShimUnreachable('unreachable', 'the connection ended before the command did'))
      })
      opened.end(input)
    })
    return () => {
      stopped = true
      channel?.close()
    }
  })

const forward = (
  client: ssh2.Client,
  lost: AbortSignal,
  port: number,
  { timeoutMs }: { timeoutMs: number },
) =>
  bounded<Duplex>(lost, timeoutMs, `port ${port} did not open within ${timeoutMs} ms`, (resolve, reject) => {
    let stopped = false
    client.forwardOut('127.0.0.1', 0, '127.0.0.1', port, (error, stream) => {
      if (error)
        return reject(new ShimUnreachable('agent', `nothing answers on port ${port}: ${error.message}`))
      // A stream that comes too late, or breaks after its reader has gone, must not bring the process down.
      stream.on('error', () => {})
      if (stopped) stream.destroy()
      else resolve(stream)
    })
    return () => {
      stopped = true
    }
  })

/** Runs `start` until it settles, its time is up or the connection is lost. What it returns stops it early. */
const bounded = <Value>(
  lost: AbortSignal,
  timeoutMs: number,
  late: string,
  start: (resolve: (value: Value) => void, reject: (error: Error) => void) => () => void,
): Promise<Value> => {
  lost.throwIfAborted()
  return new Promise<Value>((resolve, reject) => {
    const settle = () => {
      clearTimeout(timer)
      lost.removeEventListener('abort', onLost)
    }
    const stopWith = (error: Error) => {
      settle()
      reject(error)
      stop()
    }
    const onLost = () => stopWith(lost.reason)
    const timer = setTimeout(() => stopWith(new ShimUnreachable('unreachable', late)), timeoutMs)
    lost.addEventListener('abort', onLost)
    let stop = () => {}
    try {
      stop = start((value) => {
        settle()
        resolve(value)
      }, stopWith)
    } catch (error) {
      // ssh2 throws where a connection ended a moment ago.
      const words = error instanceof Error ? error.message : String(error)
      stopWith(new ShimUnreachable('unreachable', words, { cause: error }))
    }
  })
}

const textOf = (chunks: Buffer[]) => Buffer.concat(chunks).toString('utf8')
