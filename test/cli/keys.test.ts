import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createAuthorizer } from '../../lib/http/authorize.ts'
import { createDynamoClient } from '../../lib/store/dynamo-client.ts'
import { createDynamoStore } from '../../lib/store/dynamo-store.ts'
import type { Store } from '../../lib/store/store.ts'
import { startDynamo } from '../../sandbox/local/dynoxide.ts'
import { countingRandom } from '../support/counting-random.ts'
import { createUser } from './stage.ts'

const user = createUser()
let dynamo: Awaited<ReturnType<typeof startDynamo>>
let client: ReturnType<typeof createDynamoClient>
let store: Store
beforeAll(async () => {
  dynamo = await startDynamo({})
  client = createDynamoClient(dynamo.config)
  store = createDynamoStore({ client, table: dynamo.table, random: countingRandom() })
  // An account that is the local engine.
  vi.stubEnv('AWS_REGION', 'us-east-1')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local')
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', String(dynamo.config.endpoint))
})
afterAll(async () => {
  vi.unstubAllEnvs()
  user.remove()
  client.destroy()
  await dynamo.stop()
})
beforeEach(async () => {
  for (const { name } of await store.listApiKeys()) await store.removeApiKey(name)
  // One that had no limits leaves none behind.
  await store.addApiKey({ hash: 'of nobody', name: 'alice', role: 'viewer', createdAt: 0 })
  await store.removeApiKey('alice')
})

const berth = (args: string[]) => user.berth(args)
const deployed = () => ['--table', dynamo.table]
const create = (...more: string[]) =>
  berth(['keys', 'create', ...deployed(), '--name', 'alice', '--role', 'operator', ...more])
const access = async (key: string, now = Date.now()) =>
  createAuthorizer({ store, clock: { now: () => now } })(`Bearer ${key}`)

describe('berth keys, on the table of a deployment', () => {
  test('create keeps what may be spent with the key, and list shows it', async () => {
    const limited = ['--max-price-per-hour', '80', '--max-instances', '3', '--monthly-budget', '5000.50']
    expect((await create(...limited)).code).toBe(0)
    expect(await store.keyLimits('alice')).toEqual({
      max_price_per_hour: 8000,
      max_instances: 3,
      monthly_budget: 500_050,
    })
    const list = await berth(['keys', 'list', ...deployed()])
    expect(list.out).toContain('$80.00 an hour, 3 instances, $5000.50 a month')
    expect(await create('--max-instances', 'many')).toMatchObject({ code: 2 })
  })

  test('limit changes what it names, and leaves the rest and the key as they are', async () => {
    const key = (await create('--max-instances', '3', '--monthly-budget', '500')).out.trim()
    const limit = (...more: string[]) => berth(['keys', 'limit', 'alice', ...deployed(), ...more])
    expect(await limit('--monthly-budget', '800.50')).toMatchObject({
      code: 0,
      out: 'With the key of alice may be spent: 3 instances, $800.50 a month. What runs already goes on.\n',
    })
    expect(await store.keyLimits('alice')).toEqual({ max_instances: 3, monthly_budget: 80_050 })
    const lifted = await limit('--max-instances', 'none', '--monthly-budget', 'none', '--json')
    expect(JSON.parse(lifted.out)).toMatchObject({
      name: 'alice',
      limits: { maxPricePerHour: null, maxInstances: null, monthlyBudget: null },
    })
    expect(await access(key)).toMatchObject({ context: { name: 'alice' } })
    for (const wrong of [[], ['--max-instances', 'few'], ['--monthly-budget', '-1']]) {
      expect(await limit(...wrong)).toMatchObject({ code: 2, out: '', err: expect.stringContaining('none') })
    }
  })

  test('what could be spent with a key holds on for what was asked for with it, and for the next of its name', async () => {
    await create('--monthly-budget', '500')
    const { out } = await berth(['keys', 'revoke', 'alice', ...deployed()])
    expect(out).toContain('fleets that were asked for with it go on, within its limits')
    expect(await store.keyLimits('alice')).toEqual({ monthly_budget: 50_000 })
    expect((await create()).err).toContain('$500.00 a month')
    expect(await store.keyLimits('alice')).toEqual({ monthly_budget: 50_000 })
    await berth(['keys', 'revoke', 'alice', ...deployed()])
    await create('--max-instances', '2')
    expect(await store.keyLimits('alice')).toEqual({ max_instances: 2 })
  })

  test('create tells the key alone, once, and it is good', async () => {
    const { code, out, err } = await create()
    expect(code).toBe(0)
    expect(out).toMatch(/^berth_[\w-]{43}\n$/)
    expect(err).toContain('alice (operator, never expires)')
    expect(err).not.toContain(out.trim())
    expect(await access(out.trim())).toEqual({
      isAuthorized: true,
      context: { name: 'alice', role: 'operator' },
    })
    expect((await berth(['keys', 'list', ...deployed()])).out).not.toContain(out.trim())
  })

  test('create --expires gives a key that ends by itself', async () => {
    const key = (await create('--expires', '90d')).out.trim()
    const in90Days = Date.now() + 90 * 86_400_000
    expect(await access(key, in90Days - 60_000)).toMatchObject({
      context: { name: expect.stringMatching(/./) },
    })
    expect(await access(key, in90Days)).toMatchObject({ context: { name: '' } })
  })

  test('a name is given once, until its key is revoked', async () => {
    const first = (await create()).out.trim()
    const second = await create()
    expect(second).toMatchObject({ code: 1, out: '', err: expect.stringContaining('alice already') })
    expect(await access(first)).toMatchObject({ context: { name: expect.stringMatching(/./) } })
    expect((await berth(['keys', 'revoke', 'alice', ...deployed()])).code).toBe(0)
    expect(await access(first)).toMatchObject({ context: { name: '' } })
    expect((await create()).code).toBe(0)
  })

  test('list shows who has which key, and revoke takes its id as well', async () => {
    await create('--expires', '1h')
    await store.addApiKey({ hash: 'e'.repeat(64), name: 'old', role: 'viewer', createdAt: 0, expiresAt: 1 })
    const { out } = await berth(['keys', 'list', ...deployed()])
    const [head = '', alice = '', old = '', ...more] = out.split('\n')
    expect(head).toMatch(/^NAME {3}ROLE {6}ID {12}MADE {8}EXPIRES +LIMITS$/)
    expect(alice).toMatch(/^alice {2}operator {2}[0-9a-f]{12} {2}\d{4}-\d\d-\d\d {2}expires \S+Z$/)
    expect(old).toMatch(/^old {4}viewer {4}e{12} {2}1970-01-01 {2}expired$/)
    expect(more).toEqual([''])
    const id = /[0-9a-f]{12}/.exec(alice)?.[0] ?? ''
    expect((await berth(['keys', 'revoke', id, ...deployed()])).out).toContain('The key of alice')
    expect((await store.listApiKeys()).map(({ name }) => name)).toEqual(['old'])
  })

  test.each([
    ['no place', 2, ['list'], '--table berth-prod'],
    ['two places', 2, ['list', '--table', 'a', '--data', 'b'], '--table berth-prod'],
    [
      'a table that is not there',
      1,
      ['list', '--table', 'nothing'],
      'There is no table nothing in us-east-1',
    ],
    [
      'a table that is not in that region',
      1,
      ['list', '--table', 'nothing', '--region', 'eu-west-1'],
      'There is no table nothing in eu-west-1',
    ],
    ['a folder that is not there', 1, ['list', '--data', '/nothing'], 'There is no folder /nothing'],
    ['a key that is not there', 3, ['revoke', 'nobody', '--table', 'berth'], 'There is no key nobody'],
    [
      'to limit a key that is not there',
      3,
      ['limit', 'nobody', '--max-instances', '1', '--table', 'berth'],
      'There is no key nobody',
    ],
    [
      'a role of its own',
      2,
      ['create', '--name', 'a', '--role', 'admin', '--table', 'berth'],
      'operator, viewer',
    ],
    [
      'a name with blanks',
      2,
      ['create', '--name', 'a b', '--role', 'viewer', '--table', 'berth'],
      'lower-case',
    ],
    ['no name', 2, ['create', '--role', 'viewer', '--table', 'berth'], '--name'],
    ['an option of its own', 2, ['list', '--tabel', 'berth'], '--tabel'],
  ])('%s is refused, with what is right', async (_, expectedCode, args, told) => {
    const { code, out, err } = await berth(['keys', ...args])
    expect({ code, out }).toEqual({ code: expectedCode, out: '' })
    expect(err).toContain(told)
    expect(err).not.toContain('    at ')
    expect(await store.listApiKeys()).toEqual([])
  })
})

test('berth keys works on the folder of npm start while nothing runs there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-keys-'))
  try {
    const there = ['--data', folder]
    expect((await berth(['keys', 'create', '--name', 'bob', '--role', 'viewer', ...there])).code).toBe(0)
    expect((await berth(['keys', 'list', ...there])).out).toMatch(/^bob {3}viewer/m)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
