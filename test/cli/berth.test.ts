import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { hashOf } from '../../lib/http/authorize.ts'
import type { LocalBerth } from '../../sandbox/local/local-berth.ts'
import { createUser, startBerth, startBetween, unusedAddress } from './stage.ts'

const user = createUser()
/** Nothing listens there: a port that was taken a moment ago, by nobody else. */
const nobody = await unusedAddress()
const { berth } = user
let api: LocalBerth
beforeAll(async () => {
  api = await startBerth(user)
}, 60_000)
afterAll(async () => {
  await api.stop()
  user.remove()
})

const shown = z.object({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  holder: z.string().nullable(),
})
const json = (text: string) => shown.parse(JSON.parse(text))
const rent = async (...more: string[]) => {
  const { code, out, err } = await berth(['rent', '--gpu', 'MI300X:1', '-y', '--json', ...more])
  expect({ code, err }).toMatchObject({ code: 0 })
  return json(out)
}
const named = async (name: string) => {
  const { out } = await berth(['ps', '--all', '--json'])
  return z
    .object({ instances: z.array(shown) })
    .parse(JSON.parse(out))
    .instances.filter((each) => each.name === name)
}
const rentals = () => api.clouds?.hotaisle.ledger().length
/** The same command with another API than that of the folder. */
const at = (url: string, key = api.apiKey) => ({
  env: { ...process.env, BERTH_URL: url, BERTH_API_KEY: key },
})

describe('berth offer', () => {
  test("prints dstack's table, with the minimum, to the column", async () => {
    const { code, out, err } = await berth(['offer', '--gpu', 'MI300X'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toBe(
      [
        '#  BACKEND                   RESOURCES                                             INSTANCE TYPE  PRICE   MINIMUM',
        '1  hotaisle (us-michigan-1)  cpu=x86:8 mem=224GB disk=12288GB gpu=MI300X:192GB:1   vm-mi300x-1    $1.99   $0.04 (1m)',
        '2  hotaisle (us-michigan-1)  cpu=x86:13 mem=224GB disk=12288GB gpu=MI300X:192GB:1  vm-mi300x-1    $1.99   $0.04 (1m)',
        '3  hotaisle (us-michigan-1)  cpu=x86:26 mem=448GB disk=12288GB gpu=MI300X:192GB:2  vm-mi300x-2    $3.98   $3.98 (1h)',
        '4  hotaisle (us-michigan-1)  cpu=x86:104 mem=2048GB disk=447GB gpu=MI300X:192GB:8  bm-mi300x-8    $27.12  $216.96 (8h)',
        '',
      ].join('\n'),
    )
  })

  test('says what is charged at least, where nothing of that is prepaid', async () => {
    const { out } = await berth(['offer', '--gpu', 'H100:8', '--region', 'eu-frankfurt-1', '--on-demand'])
    expect(out).toBe(
      [
        '#  BACKEND               RESOURCES                                          INSTANCE TYPE  PRICE   MINIMUM',
        '1  oci (eu-frankfurt-1)  cpu=x86:224 mem=2048GB disk=100GB gpu=H100:80GB:8  BM.GPU.H100.8  $80.00  $80.00 (once it runs)',
        '',
      ].join('\n'),
    )
  })

  test('has the columns of dstack alone where nothing has a minimum', async () => {
    const { out } = await berth(['offer', '--gpu', 'A10:1', '--region', 'eu-frankfurt-1', '--on-demand'])
    expect(out).toBe(
      [
        '#  BACKEND               RESOURCES                                       INSTANCE TYPE  PRICE',
        '1  oci (eu-frankfurt-1)  cpu=x86:30 mem=240GB disk=100GB gpu=A10:24GB:1  VM.GPU.A10.1   $2.00',
        '',
      ].join('\n'),
    )
  })

  test('is in colours on a terminal, and plain elsewhere', async () => {
    const colour = String.fromCharCode(27)
    const piped = await berth(['offer', '--gpu', 'MI300X:8'])
    expect(piped.out).not.toContain(colour)
    const { stream, text } = user.recorder()
    await berth(['offer', '--gpu', 'MI300X:8'], { out: Object.assign(stream, { isTTY: true }) })
    expect(text()).toContain(`${colour}[1mBACKEND`)
  })

  test('--json prints what the API answers', async () => {
    const { out } = await berth(['offer', '--gpu', 'MI300X:8', '--json'])
    expect(JSON.parse(out)).toMatchObject({
      offers: [{ instanceType: 'bm-mi300x-8', pricePerHour: 27.12, zones: [] }],
      errors: [],
    })
  })

  test('says why a backend is missing, and ends with 3 where nothing fits', async () => {
    const hotaisle = api.clouds?.hotaisle
    hotaisle?.faults.always('GET virtual_machines/available', { kind: 'status', status: 500 })
    hotaisle?.faults.always('GET bare_metal/available', { kind: 'status', status: 500 })
    try {
      const { code, out, err } = await berth(['offer', '--gpu', 'MI300X:8'])
      expect({ code, out }).toEqual({ code: 3, out: '' })
      expect(err).toContain('hotaisle is missing here: ')
      expect(err).toContain('No offer fits.')
    } finally {
      hotaisle?.faults.clear()
    }
  })
})

describe('berth rent', () => {
  test('asks before it spends: where nobody can be asked nothing is rented', async () => {
    const before = rentals()
    const { code, out, err } = await berth(['rent', '--gpu', 'MI300X:1'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('Nothing was rented.')
    expect(err).toContain('-y')
    expect(rentals()).toBe(before)
  })

  test('with -y says what it costs and what is prepaid, and follows it until it is ready', async () => {
    const { code, out, err } = await berth(['rent', '--gpu', 'MI300X:2', '--name', 'two', '-y'])
    expect(code).toBe(0)
    expect(err).toContain('The first costs $3.98 an hour. $3.98 is charged at once, and prepays 1h.')
    expect(err).toContain('It is given back when idle for 5m, not before the prepaid time is over.')
    expect(err).toContain('SSH key: ')
    expect(err).toMatch(/0:\d\d {2}rented vm-mi300x-2 [\s\S]*hardware as advertised[\s\S]*ready for local/)
    expect(out).toMatch(
      /^two is ready: vm-mi300x-2 at \$3.98 an hour, prepaid until \S+ \S+ UTC\.\nEnter it: berth ssh two/,
    )
  })

  test('takes an idle machine that fits, and says that nothing new is charged', async () => {
    await rent('--name', 'spare', '--no-claim')
    const before = rentals()
    const { code, err } = await berth(['rent', '--gpu', 'MI300X:1', '-y'])
    expect(code).toBe(0)
    expect(err).toContain('idle: i-')
    expect(err).toContain('The first is here already, idle: taking it charges nothing at once.')
    expect(rentals()).toBe(before)
    await berth(['stop', 'spare', '--force', '-y'])
  })

  test('whose answer gets lost asks again with the same key, and rents once', async () => {
    let cuts = 0
    const between = await startBetween(api.url, ({ method }, text) =>
      method === 'POST' && cuts++ < 2 ? 'cut' : text,
    )
    try {
      const words = ['rent', '--gpu', 'MI300X:1', '--name', 'once', '--no-reuse', '-y', '--detach']
      const { code, err } = await berth(words, at(between.url))
      expect(code).toBe(0)
      expect(err).toContain('it never rents twice')
      expect(err).toContain(
        'is rented, for up to $1.99 an hour, and up to $0.04 at once; --max-price sets a limit',
      )
      const keys = between.seen.filter(({ method }) => method === 'POST').map(({ key }) => key)
      expect(keys).toHaveLength(3)
      expect(new Set(keys).size).toBe(1)
      expect(await named('once')).toHaveLength(1)
    } finally {
      await between.stop()
      await berth(['stop', 'once', '--force', '-y'])
    }
  })

  test('that no answer ever reaches says how to go on without renting twice, and that way works', async () => {
    const between = await startBetween(api.url, ({ method }, text) => (method === 'POST' ? 'cut' : text))
    const words = ['rent', '--gpu', 'MI300X:1', '--name', 'later', '--no-reuse', '-y', '--detach']
    const lost = await berth(words, at(between.url))
    await between.stop()
    expect(lost.code).toBe(1)
    expect(lost.err).toContain('Whether anything was rented is not known.')
    const key = /--idempotency-key (\S+)/.exec(lost.err)?.[1] ?? ''
    const again = await berth([...words, '--idempotency-key', key, '--json'])
    expect(json(again.out)).toMatchObject({ name: 'later' })
    expect(await named('later')).toHaveLength(1)
    await berth(['stop', 'later', '--force', '-y'])
  })

  test('left by Ctrl-C goes on, and says so', async () => {
    let press = () => {}
    const { code, err } = await berth(['rent', '--gpu', 'MI300X:1', '--name', 'left', '--no-reuse', '-y'], {
      onInterrupt: (callback) => {
        press = callback
        return () => {}
      },
      // While it is followed.
      pause: async () => press(),
    })
    expect(code).toBe(130)
    expect(err).toContain('The rental of left goes on')
    expect(err).toContain('berth stop left')
    expect(json((await berth(['show', 'left', '--json'])).out).status).not.toMatch(/^termin/)
    await berth(['stop', 'left', '--force', '-y'])
  })

  test('left by Ctrl-C before there is an answer says how to go on with the request', async () => {
    let press = () => {}
    const ends: number[] = []
    const words = ['rent', '--gpu', 'MI300X:1', '--name', 'unsure', '--no-reuse', '-y', '--detach']
    const { err } = await berth(words, {
      onInterrupt: (callback) => {
        press = callback
        return () => {}
      },
      fetch: (input, init) => {
        if (init?.method === 'POST') press()
        return fetch(input, init)
      },
      endNow: (exitCode) => void ends.push(exitCode),
    })
    expect(ends).toEqual([130])
    expect(err).toContain('may have rented something. See: berth ps')
    expect(err).toMatch(/--idempotency-key berth-cli-\S+ goes on with it, and never rents twice/)
    await berth(['stop', 'unsure', '--force', '-y'])
  })

  test('that comes to nothing says why, what it cost, and ends with 4', async () => {
    api.clouds?.hotaisle.faults.nextMachine({ gpuCount: 0 })
    const { code, err } = await berth(['rent', '--gpu', 'MI300X:1', '--no-reuse', '-y'])
    expect(code).toBe(4)
    expect(err).toContain('ended before it was ready (hardware_mismatch)')
    expect(err).toContain('It has cost $0.0')
  })
})

describe('what is rented', () => {
  test('is listed, shown with its history, claimed, released and stopped, by name', async () => {
    const { id } = await rent('--name', 'train-1', '--no-reuse')
    const ps = await berth(['ps'])
    expect(ps.out).toMatch(/^NAME +BACKEND +INSTANCE TYPE +PRICE +STATUS +HOLDER +COST +PREPAID UNTIL/)
    expect(ps.out).toMatch(/^train-1 +hotaisle \(us-michigan-1\) +vm-mi300x-1 +\$1.99 +busy +local +\$0.04 /m)
    const show = await berth(['show', 'train-1'])
    expect(show.out).toMatch(new RegExp(`^Id: +${id}$`, 'm'))
    expect(show.out).toContain('hardware as advertised')
    expect((await berth(['release', 'train-1'])).out).toContain(
      'train-1 is released. It is given back when idle',
    )
    expect((await berth(['ps', '--status', 'idle'])).out).toContain('train-1')
    const claim = await berth(['claim', id, '--hold', '2h'])
    expect(claim.out).toMatch(/^train-1 is yours \(local, held until /)
    const stop = await berth(['stop', 'train-1', '--force', '-y'])
    expect(stop.out).toContain('train-1 is being given back.')
    expect(stop.out).toContain('Forfeited: $0.04 was charged')
    await expect
      .poll(async () => (await berth(['ps', '--all', '--json'])).out)
      .toMatch(new RegExp(`${id}[\\s\\S]{0,80}"terminated"`))
    expect((await berth(['stop', id])).out).toContain('train-1 has ended already (terminated_by_user)')
  })

  test('inside prepaid time is stopped without force: nothing more is charged, and force says what it forfeits', async () => {
    await berth(['rent', '--gpu', 'MI300X:2', '--name', 'paid', '-y', '--no-reuse'])
    const asked = await berth(['stop', 'paid', '--force'])
    expect(asked).toMatchObject({ code: 2, out: '' })
    expect(asked.err).toContain('Nothing was stopped.')
    const { out } = await berth(['stop', 'paid'])
    expect(out).toMatch(
      /^Your use of paid has ended\. It is prepaid, so it is given back at \S+ \S+ UTC; nothing more is charged\./,
    )
    expect(out).toContain('berth stop paid --force')
    expect((await berth(['reservations'])).out).toMatch(/vm-mi300x-2 +\$3.98 +\$3.98 .* active$/m)
    await berth(['stop', 'paid', '--force', '-y'])
  })

  test('under one name twice is told apart by its ids', async () => {
    const ids = [
      await rent('--name', 'twin', '--no-reuse', '--detach'),
      await rent('--name', 'twin', '--no-reuse', '--detach'),
    ].map(({ id }) => id)
    const { code, err } = await berth(['show', 'twin'])
    expect(code).toBe(2)
    for (const id of ids) expect(err).toContain(id)
    for (const id of ids) await berth(['stop', id, '--force', '-y'])
  })

  test('under a name that nothing has ends with 3, and says which there are', async () => {
    const { code, err } = await berth(['show', 'trian'])
    expect(code).toBe(3)
    expect(err).toContain('There is no instance trian.')
    expect(err).toContain('two')
  })
})

/** In a process of its own, whose terminal the session has. */
const inProcess = (words: string[], path: string) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(
      process.execPath,
      [join(process.cwd(), 'cli/berth.js'), ...words],
      { cwd: user.folder, env: { HOME: user.home, PATH: path } },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    )
  })

/** A folder in which `ssh` is a client of its own; behind it, where there is one, the system's. */
const folderWithSsh = () => {
  const folder = join(user.home, 'bin')
  mkdirSync(folder)
  symlinkSync(join(import.meta.dirname, 'ssh-client.ts'), join(folder, 'ssh'))
  symlinkSync(process.execPath, join(folder, 'node'))
  return folder
}

describe('berth ssh', () => {
  const own = folderWithSsh()
  const systems = (process.env.PATH ?? '').split(delimiter).find((folder) => existsSync(join(folder, 'ssh')))
  const clients = [
    ['a client made of ssh2', own],
    ...(systems === undefined ? [] : [["the system's ssh", systems]]),
  ]
  beforeAll(async () => {
    await rent('--name', 'host', '--no-reuse')
  })
  afterAll(() => berth(['stop', 'host', '--force', '-y']))

  test.each(clients)('runs a command on the machine by %s, and ends with its exit code', async (_, path) => {
    const words = ['ssh', 'host', '-i', user.keyFile, '--', 'echo on $(hostname) with $(nproc) CPUs; exit 7']
    const { code, out, err } = await inProcess(words, `${path}${delimiter}/usr/bin${delimiter}/bin`)
    expect({ code, out, err }).toMatchObject({
      code: 7,
      out: expect.stringMatching(/^on \S+ with (8|13) CPUs\n$/),
    })
  })

  test('refuses a machine that shows another host key, with a warning', async () => {
    const between = await startBetween(api.url, (_, text) =>
      text.replaceAll(/SHA256:[\w+/]+/g, `SHA256:${'A'.repeat(43)}`),
    )
    const { code, out, err } = await berth(['ssh', 'host', '--', 'true'], at(between.url))
    await between.stop()
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain('WARNING: host is not the machine that Berth rented')
    expect(err).toContain(`SHA256:${'A'.repeat(43)}`)
    expect(err).toContain('nothing was sent')
  })

  test('says so where there is no ssh', async () => {
    const { code, err } = await berth(['ssh', 'host', '--', 'true'], { env: { PATH: user.folder } })
    expect(code).toBe(1)
    expect(err).toContain('There is no "ssh" on this machine.')
  })

  test('--json gives the address and the host key, checked', async () => {
    const { out } = await berth(['ssh', 'host', '--json'])
    expect(JSON.parse(out)).toMatchObject({
      username: 'hotaisle',
      hostKey: expect.stringMatching(/^ssh-ed25519 AAAA/),
    })
  })
})

describe('where Berth is', () => {
  const elsewhere = createUser()
  afterAll(elsewhere.remove)

  test('is not known: every way is named', async () => {
    const { code, err } = await elsewhere.berth(['ps'])
    expect(code).toBe(1)
    for (const way of [
      'BERTH_URL',
      '--url',
      'BERTH_API_KEY',
      'npm start',
      '--data',
      '.config/berth/client.json',
    ])
      expect(err).toContain(way)
  })

  test.each([
    ['--url and BERTH_API_KEY', () => ['--url', api.url], () => ({ BERTH_API_KEY: api.apiKey })],
    [
      'BERTH_URL and BERTH_API_KEY',
      () => [],
      () => ({ BERTH_URL: `${api.url}/`, BERTH_API_KEY: api.apiKey }),
    ],
    ['--data', () => ['--data', join(user.folder, '.berth')], () => ({})],
  ])('is found by %s', async (_, options, env) => {
    expect(await elsewhere.berth(['ps', '--json', ...options()], { env: env() })).toMatchObject({
      code: 0,
      err: '',
    })
  })

  test('is found by a profile, whose key goes to its own address alone', async () => {
    const folder = join(elsewhere.home, '.config', 'berth')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'client.json'), readFileSync(join(user.folder, '.berth', 'client.json')))
    expect(await elsewhere.berth(['ps', '--json'])).toMatchObject({ code: 0 })
    expect(await elsewhere.berth(['ps', '--json', '--url', api.url])).toMatchObject({ code: 0 })
    const other = await elsewhere.berth(['ps', '--url', 'https://berth.example.com'])
    expect(other).toMatchObject({ code: 1, err: expect.stringContaining('BERTH_API_KEY') })
  })

  test.each([
    ['an address that refuses', nobody, 1, 'the connection was refused'],
    ['no encryption on the way to another machine', 'http://berth.example.com', 2, 'unencrypted'],
    ['no address', 'berth', 2, 'is not an address'],
  ])('is %s: that is told', async (_, url, code, words) => {
    const answer = await elsewhere.berth(['ps'], at(url, 'berth_secret_key'))
    expect(answer).toMatchObject({ code, err: expect.stringContaining(words) })
    expect(answer.err).not.toContain('berth_secret_key')
  })

  test('knows other keys: a wrong one is told, and not repeated', async () => {
    const { code, err } = await elsewhere.berth(['ps'], at(api.url, 'berth_wrong_key_0123456789'))
    expect(code).toBe(1)
    expect(err).toContain('wrong, expired or revoked')
    expect(err).not.toContain('berth_wrong')
  })
})

describe('berth doctor', () => {
  test('finds nothing wrong where nothing is', async () => {
    const { code, out } = await berth(['doctor', '--json'])
    expect(code).toBe(0)
    const { ok, findings } = JSON.parse(out)
    expect(ok).toBe(true)
    expect(findings).toContainEqual({ what: 'API key', state: 'ok', found: 'good, of an operator' })
    expect(findings).toContainEqual({ what: 'hotaisle', state: 'ok', found: '4 offers in us-michigan-1' })
  })

  test('tells what the key of a viewer is good for', async () => {
    const key = 'berth_key_of_a_viewer_0123456789'
    await api.context.store.addApiKey({ hash: hashOf(key), name: 'board', role: 'viewer', createdAt: 0 })
    const { code, out } = await berth(['doctor'], at(api.url, key))
    expect(code).toBe(0)
    expect(out).toContain('good, of a viewer: it may look, not rent or give back')
  })

  test.each([
    [
      'a clock that is six minutes off',
      () => ({ now: () => Date.now() + 360_000 }),
      'Clock: differs',
      'set-ntp',
    ],
    ['a wrong key', () => at(api.url, 'berth_wrong_key_0123456789'), 'API key: ', 'berth help access'],
    ['an API that is not there', () => at(nobody), 'the connection was refused', 'npm start'],
  ])('finds %s, and says how to mend it', async (_, changed, found, mend) => {
    const { code, out, err } = await berth(['doctor'], changed())
    expect(code).toBe(1)
    expect(out).toMatch(new RegExp(`WRONG +.*${found}.*\\n +Do: .*${mend}`))
    expect(err).toContain('1 thing is wrong.')
  })

  test('--config reads the settings and asks their clouds, with names of what is wrong', async () => {
    const file = join(user.folder, 'berth.yml')
    const backend = { ...api.clouds?.settings.backends?.[0] }
    writeFileSync(file, JSON.stringify({ backends: [backend] }))
    const good = await berth(['doctor', '--config', 'berth.yml'])
    expect(good.out).toContain('hotaisle, credentials: accepted')
    writeFileSync(file, JSON.stringify({ backends: [{ ...backend, creds: { api_key: 'wrong.secret' } }] }))
    const bad = await berth(['doctor', '--config', 'berth.yml'])
    expect(bad.code).toBe(1)
    expect(bad.out).toMatch(/WRONG +hotaisle, credentials: Hot Aisle does not accept the API key/)
    expect(bad.out).not.toContain('wrong.secret')
    writeFileSync(file, JSON.stringify({ backends: [{ ...backend, regoins: [] }] }))
    expect((await berth(['doctor', '--config', 'berth.yml'])).out).toContain('regoins: this key is not known')
  })
})

describe('completion', () => {
  const complete = async (...words: string[]) => {
    const { out } = await inProcess(['complete', '--', ...words], process.env.PATH ?? '')
    return out.split('\n').map((line) => line.split('\t')[0])
  }

  test('knows commands, options, their values, and names', async () => {
    await rent('--name', 'nameable', '--no-reuse', '--detach')
    expect(await complete('re')).toEqual(['rent', 'release', 'reservations', ':4', ''])
    expect(await complete('offer', '--back')).toContain('--backend')
    expect(await complete('offer', '--backend', '')).toEqual(expect.arrayContaining(['hotaisle', 'oci']))
    expect(await complete('stop', 'name')).toContain('nameable')
    await berth(['stop', 'nameable', '--force', '-y'])
  })

  test.each(['bash', 'zsh', 'fish'])('has a script for %s', async (shell) => {
    const { out, code } = await inProcess(['completion', shell], process.env.PATH ?? '')
    expect(code).toBe(0)
    expect(out).toContain('berth complete --')
  })
})
