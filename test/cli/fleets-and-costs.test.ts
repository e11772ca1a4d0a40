import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createUser } from './stage.ts'

/** The answers of an API, by method and path; whatever else is asked for is refused. */
type Answers = Record<string, { status?: number; body: object }>

const user = createUser()
let answers: Answers = {}
let asked: { call: string; body: unknown }[] = []
const server = createServer((request, response) => {
  const call = `${request.method} ${request.url}`
  let text = ''
  request.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  request.on('end', () => {
    asked.push({ call, body: text === '' ? undefined : JSON.parse(text) })
    const isIn = request.headers.authorization === 'Bearer berth_key_for_this_test'
    const { status = 200, body } = (isIn ? answers[call] : undefined) ?? {
      status: isIn ? 404 : 401,
      body: { title: isIn ? 'Not found' : 'A valid API key is needed', detail: `${call} is not known.` },
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
})
let url = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  url = `http://127.0.0.1:${address.port}`
})
beforeEach(() => {
  answers = {}
  asked = []
})
afterAll(() => {
  server.close()
  user.remove()
})
const berth = (...words: string[]) =>
  user.berth(words, { env: { BERTH_URL: url, BERTH_API_KEY: 'berth_key_for_this_test' } })

const offer = {
  id: 'vm',
  backend: 'hotaisle',
  region: 'us-michigan-1',
  zones: [],
  instanceType: 'vm-mi300x-2',
  resources: {
    cpu: { arch: 'x86', count: 26 },
    memoryGb: 448,
    diskGb: 12288,
    localDisks: [],
    gpu: { vendor: 'amd', name: 'MI300X', memoryGb: 192, count: 2 },
    spot: false,
  },
  pricePerHour: 3.98,
  availability: 'available',
  minimumReservationMinutes: 60,
  minimumCharge: 3.98,
}
const short = {
  name: 'amd-0',
  instanceId: 'i-0123456789ab',
  status: 'idle',
  phase: null,
  backend: 'hotaisle',
  region: 'us-michigan-1',
  instanceType: 'vm-mi300x-2',
  holder: null,
  pricePerHour: 3.98,
}
const node = {
  ...short,
  n: 0,
  idleSince: null,
  reservedUntil: '2026-12-01T08:37:30.473Z',
  releaseAt: null,
  message: 'given back not before 2026-12-01T08:37:30.473Z, as it is prepaid',
}
const fleet = {
  name: 'amd',
  status: 'active',
  version: 1,
  desired: 2,
  missing: 1,
  missingBecause: 'no capacity; tried again at 2026-12-01T08:00:00.000Z',
  pricePerHour: 3.98,
  nodes: [node],
}
const plan = {
  action: 'create',
  create: [
    { name: 'amd-0', offer },
    { name: 'amd-1', offer: null },
  ],
  keep: [],
  remove: [],
  pricePerHour: 3.98,
  minimumCharge: 3.98,
  totalPerHour: 3.98,
  messages: ['each is paid for 1 h at once'],
  errors: [{ backend: 'oci', code: 'no_answer', message: 'OCI did not answer' }],
}

describe('berth apply', () => {
  const file = join(user.folder, 'fleet.dstack.yml')
  const write = (text: string) => writeFileSync(file, text)
  beforeEach(() => write('type: fleet\nname: amd\nnodes: 2\nresources:\n  gpu: MI300X:2\n'))
  const body = { type: 'fleet', name: 'amd', nodes: 2, resources: { gpu: 'MI300X:2' } }
  const first = { call: 'PUT /fleets/amd?plan=true', body }

  test('shows the plan and what it costs, and then does it', async () => {
    answers['PUT /fleets/amd?plan=true'] = { body: { fleet: null, plan } }
    answers['PUT /fleets/amd'] = { body: { fleet, plan } }
    const { code, out, err } = await berth('apply', '-f', 'fleet.dstack.yml', '-y')
    expect(code).toBe(0)
    expect(asked).toEqual([first, { call: 'PUT /fleets/amd', body }])
    expect(err).toMatch(/^amd-0 +create +hotaisle \(us-michigan-1\) +vm-mi300x-2 +\$3.98 +\$3.98 \(1h\)$/m)
    expect(err).toMatch(/^amd-1 +create +none can be had now/m)
    expect(err).toContain('What is created costs $3.98 an hour, and $3.98 is charged at once.')
    expect(err).toContain('Fleet amd then costs $3.98 an hour ($95.52 a day), used or not.')
    expect(err).toContain('- each is paid for 1 h at once')
    expect(err).toContain('oci is missing here: OCI did not answer')
    expect(out).toBe('Fleet amd is applied. See how its nodes come: berth fleets\n')
  })

  test('--plan does nothing, and without -y nothing is done where nobody can be asked', async () => {
    answers['PUT /fleets/amd?plan=true'] = { body: { fleet: null, plan } }
    expect((await berth('apply', '-f', 'fleet.dstack.yml', '--plan')).out).toContain('amd-0')
    expect(asked).toEqual([first])
    expect(await berth('apply', '-f', 'fleet.dstack.yml')).toMatchObject({ code: 2, out: '' })
    expect(asked).toEqual([first])
  })

  test('of what is so already changes nothing', async () => {
    const same = { ...plan, action: 'none', create: [], keep: [short], errors: [] }
    answers['PUT /fleets/amd?plan=true'] = { body: { fleet, plan: same } }
    expect(await berth('apply', '-f', 'fleet.dstack.yml', '-y')).toMatchObject({
      code: 0,
      out: 'Fleet amd is as the file says.\n',
      err: expect.stringMatching(/^amd-0 +keep +hotaisle \(us-michigan-1\) +vm-mi300x-2 +\$3.98 /m),
    })
    expect(asked).toEqual([first])
  })

  test('names the key of the file that the API refuses', async () => {
    const errors = [{ path: 'idel_duration', message: 'this key is not known' }]
    answers['PUT /fleets/amd?plan=true'] = {
      status: 400,
      body: { title: 'The request is not valid', errors },
    }
    const { code, err } = await berth('apply', '-f', 'fleet.dstack.yml', '-y')
    expect(code).toBe(2)
    expect(err).toContain('fleet.dstack.yml, idel_duration: this key is not known')
  })

  test.each([
    ['that is not there', undefined, 'no such file'],
    ['that is no YAML', 'type: [', 'not valid YAML'],
    ['of another type', 'type: task\nname: a\n', '"type: fleet"'],
    ['without a name', 'type: fleet\n', '--name'],
    ['that is a list', '- a\n', 'keys and values'],
    ['that is empty', '', 'keys and values'],
    ['with an empty name', 'type: fleet\nname:\n', '--name'],
    ['with a number for a name', 'type: fleet\nname: 123\n', 'name: write a name such as'],
    ['of several documents', 'type: fleet\nname: a\n---\ntype: fleet\n', 'several documents'],
    ['that holds itself', 'type: fleet\nname: a\nresources: &it {gpu: *it}\n', 'refers to itself'],
    [
      'that grows without end',
      `a: &a [1, 1]\n${[...'bcdefghij'].map((key, n) => `${key}: &${key} [${`*${'abcdefghi'[n]}, `.repeat(9)}]`).join('\n')}\n`,
      'alias',
    ],
    ['with a price that is no number', 'type: fleet\nname: a\nnodes: 1\nmax_price: .nan\n', 'max_price: NaN'],
    ['with an endless price', 'type: fleet\nname: a\nmax_price: 1e999\n', 'max_price: Infinity'],
    ['with an endless list', 'type: fleet\nname: a\nregions: [-.inf]\n', '-Infinity'],
  ])('refuses a file %s', async (_, text, words) => {
    if (text !== undefined) write(text)
    const { code, err } = await berth(
      'apply',
      '-f',
      text === undefined ? 'nothing.yml' : 'fleet.dstack.yml',
      '-y',
    )
    expect(code).toBe(2)
    expect(err).toContain(words)
    if (text !== undefined) expect(err).toContain('fleet.dstack.yml')
    expect(asked).toEqual([])
  })

  test('takes a name in place of the one in the file, whatever that is', async () => {
    write('type: fleet\nname: 123\nnodes: 2\nresources:\n  gpu: MI300X:2\n')
    answers['PUT /fleets/amd?plan=true'] = { body: { fleet: null, plan } }
    expect(await berth('apply', '-f', 'fleet.dstack.yml', '--name', 'amd', '--plan')).toMatchObject({
      code: 0,
    })
    expect(asked).toEqual([first])
  })
})

test('berth fleets lists the nodes, and says why some are missing', async () => {
  answers['GET /fleets'] = { body: { fleets: [fleet] } }
  const { out, err } = await berth('fleets')
  expect(out).toBe(
    [
      'FLEET  NODE   BACKEND                   INSTANCE TYPE  PRICE  STATUS  HOLDER  PREPAID UNTIL (UTC)',
      'amd    amd-0  hotaisle (us-michigan-1)  vm-mi300x-2    $3.98  idle    -       12-01 08:37',
      '',
    ].join('\n'),
  )
  expect(err).toBe('amd: 1 node is missing: no capacity; tried again at 2026-12-01T08:00:00.000Z\n')
  expect(JSON.parse((await berth('fleets', '--json')).out)).toEqual({ fleets: [fleet] })
})

test('berth delete asks first, and says when each node goes', async () => {
  answers['DELETE /fleets/amd'] = { status: 202, body: { ...fleet, status: 'deleting' } }
  expect(await berth('delete', 'amd')).toMatchObject({ code: 2, out: '' })
  expect(asked).toEqual([])
  expect(await berth('delete', 'amd', '-y')).toMatchObject({
    code: 0,
    out: `Fleet amd is deleting.\n  amd-0: ${node.message}\n`,
  })
  expect((await berth('delete', 'other', '-y')).code).toBe(3)
})

describe('berth cost', () => {
  const costs = {
    month: '2026-11',
    total: 220.94,
    byBackend: [{ backend: 'hotaisle', cost: 220.94 }],
    byKey: [{ key: 'alice', cost: 220.94 }],
    byFleet: [{ fleet: 'amd', cost: 3.98 }],
    instances: [
      {
        instanceId: 'i-0123456789ab',
        name: 'train-1',
        backend: 'hotaisle',
        instanceType: 'bm-mi300x-8',
        key: 'alice',
        fleet: null,
        hours: 8,
        cost: 216.96,
        running: false,
      },
      {
        instanceId: 'i-0123456789ac',
        name: 'amd-0',
        backend: 'hotaisle',
        instanceType: 'vm-mi300x-2',
        key: 'alice',
        fleet: 'amd',
        hours: 0.14,
        cost: 3.98,
        running: true,
      },
    ],
    limits: { deployment: { monthlyBudget: { limit: 1000, used: 220.94 } }, keys: [] },
  }

  test('shows what a month costs, by instance and in sums, and what is used of limits', async () => {
    answers['GET /costs?month=2026-11'] = { body: costs }
    const { code, out, err } = await berth('cost', '--month', '2026-11')
    expect(code).toBe(0)
    expect(out).toBe(
      [
        'INSTANCE  BACKEND   INSTANCE TYPE  KEY    FLEET  HOURS  COST',
        'train-1   hotaisle  bm-mi300x-8    alice  -      8.00   $216.96',
        'amd-0     hotaisle  vm-mi300x-2    alice  amd    0.14   $3.98    running',
        '',
        '$220.94 in 2026-11 (UTC)',
        '  by backend: hotaisle $220.94',
        '  by key: alice $220.94',
        '  by fleet: amd $3.98',
        '',
      ].join('\n'),
    )
    expect(err).toBe('Limits of this Berth: $220.94 of $1000.00 this month\n')
  })

  test('takes a month alone', async () => {
    const { code, err } = await berth('cost', '--month', '2026-13')
    expect(code).toBe(2)
    expect(err).toContain('--month: write year and month, such as 2026-11')
    expect(asked).toEqual([])
  })
})
