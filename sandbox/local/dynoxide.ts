import { spawn } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import {
  CreateTableCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb'
import { tableDefinition } from '../../lib/store/table.ts'

export type LocalDynamo = { config: DynamoDBClientConfig; table: string; stop: () => Promise<void> }

const table = 'berth'
const startLimitMs = 15_000
/** How long an earlier run's engine may take to end before the folder counts as in use. */
const lockLimitMs = 8_000

/**
 * Starts a DynamoDB engine and makes the table: dynoxide on a file in `folder` (in memory without one), or whatever
 * `DYNAMODB_ENDPOINT` points to. Throws an Error that says what to install, or that the folder is in use.
 */
export const startDynamo = async (options: {
  folder?: string
  endpoint?: string | undefined
}): Promise<LocalDynamo> => {
  const engine = options.endpoint
    ? { endpoint: options.endpoint, stop: async () => {} }
    : await startDynoxide(options.folder)
  const config: DynamoDBClientConfig = {
    endpoint: engine.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  }
  await createTable(config)
  return { config, table, stop: engine.stop }
}

/** As `startDynamo`, but on the engine that runs on this folder, where one does. */
export const joinDynamo = async (options: {
  folder: string
  endpoint?: string | undefined
}): Promise<LocalDynamo> =>
  startDynamo({ ...options, endpoint: options.endpoint ?? runningOn(options.folder) })

const pidFileIn = (folder: string) => join(folder, 'dynoxide.pid')
const addressFileIn = (folder: string) => join(folder, 'dynoxide.url')

const runningOn = (folder: string): string | undefined => {
  const [pid, address] = [pidFileIn(folder), addressFileIn(folder)]
  if (!existsSync(pid) || !existsSync(address)) return undefined
  return isDynoxide(Number(readFileSync(pid, 'utf8').trim())) ? readFileSync(address, 'utf8') : undefined
}

const startDynoxide = async (folder: string | undefined) => {
  const binary = findBinary()
  const pidFile = folder === undefined ? undefined : pidFileIn(folder)
  if (pidFile) await waitForEarlierRun(pidFile)
  if (folder !== undefined) rmSync(addressFileIn(folder), { force: true })
  const port = await freePort()
  const file = folder === undefined ? [] : ['--db-path', join(folder, 'berth.sqlite')]
  // The watchdog ends the engine when this process ends, however it ends: its pipe closes. Then a new run finds the
  // file free, and nothing is left behind.
  const watchdog =
    '"$@" & pid=$!; [ -z "$PIDFILE" ] || echo $pid > "$PIDFILE"; (cat <&3 >/dev/null; kill $pid 2>/dev/null) & wait $pid'
  const child = spawn('sh', ['-c', watchdog, 'sh', binary, 'serve', '--port', String(port), ...file], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, PIDFILE: pidFile ?? '' },
    detached: true,
  })
  let complaint = ''
  child.stderr?.on('data', (chunk) => {
    complaint = `${complaint}${chunk}`.slice(-2000)
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const endpoint = `http://127.0.0.1:${port}`
  await untilAnswering(endpoint, () => (child.exitCode === null ? undefined : complaint))
  if (folder !== undefined) writeFileSync(addressFileIn(folder), endpoint)
  return {
    endpoint,
    stop: async () => {
      const pipe = child.stdio[3]
      if (pipe && 'end' in pipe) pipe.end()
      await ended
    },
  }
}

/** The build for Linux comes with the project; elsewhere one has to be on PATH. */
const findBinary = (): string => {
  const name = `@dynoxide/${process.platform}-${process.arch}/package.json`
  try {
    return join(createRequire(import.meta.url).resolve(name), '..', 'dynoxide')
  } catch {
    const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'dynoxide'))
    const found = onPath.find(isExecutable)
    if (found) return found
    throw new Error(
      `No DynamoDB engine for ${process.platform}-${process.arch}. Put a "dynoxide" on PATH (npm install -g dynoxide), ` +
        'or set DYNAMODB_ENDPOINT to a DynamoDB Local or another engine.',
    )
  }
}

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const waitForEarlierRun = async (pidFile: string) => {
  if (!existsSync(pidFile)) return
  const pid = Number(readFileSync(pidFile, 'utf8').trim())
  for (const since = Date.now(); isDynoxide(pid); await pause(50)) {
    if (Date.now() - since > lockLimitMs) {
      throw new Error(
        `Another Berth runs on this data folder (its engine is process ${pid}). Stop it, or choose another --data.`,
      )
    }
  }
}

/** A process id can be another program's by now; only where that can be read is it looked at. */
const isDynoxide = (pid: number): boolean => {
  if (!Number.isInteger(pid) || pid <= 1) return false
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const file = `/proc/${pid}/cmdline`
  return !existsSync('/proc/self') || (existsSync(file) && readFileSync(file, 'utf8').includes('dynoxide'))
}

const untilAnswering = async (endpoint: string, failure: () => string | undefined) => {
  for (const since = Date.now(); ; await pause(20)) {
    const failed = failure()
    if (failed !== undefined) throw new Error(`The DynamoDB engine ended at once: ${failed.trim()}`)
    if (
      await fetch(endpoint).then(
        () => true,
        () => false,
      )
    )
      return
    if (Date.now() - since > startLimitMs) throw new Error('The DynamoDB engine does not answer.')
  }
}

const createTable = async (config: DynamoDBClientConfig) => {
  const client = new DynamoDBClient(config)
  try {
    await client.send(new CreateTableCommand(tableDefinition(table)))
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error
  } finally {
    client.destroy()
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        address && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
