import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { joinDynamo } from '../../sandbox/local/dynoxide.ts'
import { type LocalBerth, startLocalBerth } from '../../sandbox/local/local-berth.ts'
import { checkAnswer } from '../support/answers-as-documented.ts'

const shown = z.object({ id: z.string(), status: z.string() })
const data = mkdtempSync(join(tmpdir(), 'berth-secrets-'))
/** Where the secrets are at home; the clouds' own books, beside Berth, know the keys that they check. */
const homes = /^(client\.json|ssh_key|clouds\/.*)$/

/** Everything that left Berth, by where it went. */
const written = { log: '', answers: '', commands: '', table: '', files: '' }
type Place = keyof typeof written
const places: Place[] = ['log', 'answers', 'commands', 'table', 'files']
/** Parts of each secret that are as good as the whole. */
const secrets: Record<string, string[]> = {}
const ids: string[] = []

const log =
  (level: string) =>
  (message: string, fields: object = {}) => {
    written.log += `${level} ${message} ${JSON.stringify(fields)}\n`
  }

const command = async (...args: string[]) => {
  const run = promisify(execFile)
  const { stdout, stderr } = await run(process.execPath, ['cli/berth.js', 'keys', ...args, '--data', data])
  written.commands += stderr
  return stdout
}

const linesOf = (pem: string): string[] =>
  pem.split('\n').filter((line) => line !== '' && !/^-----/.test(line))

/** Rents on both clouds, with everything that goes well and much that does not, and gives back. */
const live = async (berth: LocalBerth): Promise<void> => {
  const call = async (method: string, path: string, body?: object, key = berth.apiKey): Promise<unknown> => {
    const response = await fetch(`${berth.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    written.answers += `${response.status} ${JSON.stringify([...response.headers])} ${text}\n`
    const { status } = response
    checkAnswer(method, path, { status, headers: Object.fromEntries(response.headers), body: text })
    return JSON.parse(text)
  }
  const until = (id: string, status: string) =>
    vi.waitFor(async () => expect(shown.parse(await call('GET', `/instances/${id}`)).status).toBe(status), {
      timeout: 60_000,
      interval: 50,
    })
  const rent = async (body: object) => {
    const { id } = shown.parse(await call('POST', '/instances', body))
    ids.push(id)
    return id
  }
  const { hotaisle, oci } = berth.clouds ?? {}
  if (!hotaisle || !oci) throw new Error('the clouds are not simulated')

  await call('GET', '/offers')
  const onHotAisle = await rent({ backends: ['hotaisle'], gpu: 'MI300X:1' })
  const onOci = await rent({ backends: ['oci'], gpu: 'A10:1' })
  await until(onHotAisle, 'busy')
  await until(onOci, 'busy')

  const made = (await command('create', '--name', 'guest', '--role', 'viewer')).trim()
  secrets['a key of the command'] = [made]
  await call('GET', '/instances', undefined, made)
  await call('DELETE', `/instances/${onOci}`, undefined, made)
  written.commands += await command('list')
  written.commands += await command('revoke', 'guest')
  await call('GET', '/instances', undefined, made.slice(0, -1))

  hotaisle.faults.once('POST virtual_machines', { kind: 'status', status: 401, body: 'invalid token' })
  oci.faults.once('launchInstance', { kind: 'done_but_500' })
  const refused = await rent({ backends: ['hotaisle'], gpu: 'MI300X:1' })
  await rent({ backends: ['oci'], gpu: 'A10:1' })
  await until(refused, 'terminated')
  for (const id of ids) await call('DELETE', `/instances/${id}?force=true`)
  for (const id of ids) await until(id, 'terminated')
  oci.switches.credentials = 'all_404'
  hotaisle.faults.always('GET user', { kind: 'status', status: 401 })
  await call('GET', '/offers')
  await call('GET', '/reservations')
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

beforeAll(async () => {
  const berth = await startLocalBerth({
    port: 0,
    data,
    speed: 60,
    log: {
      info: log('info'),
      warn: log('warn'),
      error: log('error'),
      alarm: (name, message, fields) => log(name)(message, fields),
      metric: (name, value, of) => log(name)(`${value} ${of}`),
    },
  })
  const { hotaisle, oci } = berth.clouds ?? {}
  secrets['the API key'] = [berth.apiKey]
  secrets["Hot Aisle's key"] = [String(hotaisle?.apiKey.split('.')[1])]
  secrets["OCI's private key"] = linesOf(String(oci?.credentials.privateKey))
  secrets['the SSH private key'] = linesOf(readFileSync(join(data, 'ssh_key'), 'utf8'))
  try {
    await live(berth)
    const { config, table } = await joinDynamo({ folder: data })
    const client = new DynamoDBClient(config)
    const { Items } = await client.send(new ScanCommand({ TableName: table }))
    client.destroy()
    written.table = JSON.stringify(Items)
  } finally {
    await berth.stop()
  }
  for (const file of filesBelow(data)) {
    const name = relative(data, file)
    if (!homes.test(name)) written.files += `${name}\n${readFileSync(file, 'latin1')}\n`
  }
}, 180_000)
afterAll(() => rmSync(data, { recursive: true, force: true }))

describe('a whole life on both clouds, with faults', () => {
  test.each(places)('the search looks where something is: %s', (place) => {
    const known = place === 'commands' ? 'guest' : String(ids[0])
    expect(written[place]).toContain(known)
  })

  test('and for something that is: secrets of which none is short, in the words of their files', () => {
    const atHome = ['client.json', 'ssh_key'].map((file) => readFileSync(join(data, file), 'utf8')).join('\n')
    for (const part of [...(secrets['the API key'] ?? []), ...(secrets['the SSH private key'] ?? [])]) {
      expect(atHome.includes(part)).toBe(true)
    }
    for (const part of Object.values(secrets).flat()) expect(part.length).toBeGreaterThanOrEqual(8)
  })

  test.each(
    places.flatMap((place) =>
      [
        'the API key',
        'a key of the command',
        "Hot Aisle's key",
        "OCI's private key",
        'the SSH private key',
      ].map((name): [Place, string] => [place, name]),
    ),
  )('%s: nothing of %s', (place, name) => {
    const parts = secrets[name] ?? []
    expect(parts).not.toEqual([])
    for (const part of parts) {
      for (const form of [part, Buffer.from(part).toString('base64').replace(/=+$/, '')]) {
        // Not toContain: its message would print everything.
        expect(written[place].includes(form)).toBe(false)
      }
    }
  })
})
