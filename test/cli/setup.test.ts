import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { hashOf } from '../../lib/http/authorize.ts'
import { runningBerth } from './running-berth.ts'
import { createUser, startBetween, unusedAddress } from './stage.ts'

const { api, at, berth, inProcess, rent, user } = runningBerth()

/** Nothing listens there: a port that was taken a moment ago, by nobody else. */
const nobody = await unusedAddress()

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
    ['--url and BERTH_API_KEY', () => ['--url', api().url], () => ({ BERTH_API_KEY: api().apiKey })],
    [
      'BERTH_URL and BERTH_API_KEY',
      () => [],
      () => ({ BERTH_URL: `${api().url}/`, BERTH_API_KEY: api().apiKey }),
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
    expect(await elsewhere.berth(['ps', '--json', '--url', api().url])).toMatchObject({ code: 0 })
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

  test.each(['berth_first_line_of_it\nand_another', 'berth_of_€uros', 'berth_of two words'])(
    'takes no key that no header can carry, and does not repeat it: %j',
    async (key) => {
      for (const command of ['ps', 'doctor']) {
        const { code, out, err } = await elsewhere.berth([command], at(api().url, key))
        expect(code).not.toBe(0)
        expect(out + err).toContain('BERTH_API_KEY is not an API key')
        expect(out + err).not.toContain('berth_first')
        expect(out + err).not.toContain('berth_of')
      }
    },
  )

  test('takes a key with a line break behind it, as files have', async () => {
    expect(await elsewhere.berth(['ps', '--json'], at(api().url, `${api().apiKey}\n`))).toMatchObject({
      code: 0,
    })
  })

  test('knows other keys: a wrong one is told, and not repeated', async () => {
    const { code, err } = await elsewhere.berth(['ps'], at(api().url, 'berth_wrong_key_0123456789'))
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
    await api().context.store.addApiKey({ hash: hashOf(key), name: 'board', role: 'viewer', createdAt: 0 })
    const { code, out } = await berth(['doctor'], at(api().url, key))
    expect(code).toBe(0)
    expect(out).toContain('good, of a viewer: it may look, not rent or give back')
  })

  test('does not take an operator for a viewer because one question is not answered', async () => {
    const between = await startBetween(api().url, ({ url }, text) =>
      url?.endsWith('/release') ? 'cut' : text,
    )
    const { out } = await berth(['doctor'], at(between.url))
    await between.stop()
    expect(out).not.toContain('viewer')
    expect(out).toMatch(/look +API key: good, of a role that is not known: .* does not answer/)
  })

  test.each([
    [
      'a clock that is six minutes off',
      () => ({ now: () => Date.now() + 360_000 }),
      'Clock: differs',
      'set-ntp',
    ],
    ['a wrong key', () => at(api().url, 'berth_wrong_key_0123456789'), 'API key: ', 'berth help access'],
    ['an API that is not there', () => at(nobody), 'the connection was refused', 'npm start'],
  ])('finds %s, and says how to mend it', async (_, changed, found, mend) => {
    const { code, out, err } = await berth(['doctor'], changed())
    expect(code).toBe(1)
    expect(out).toMatch(new RegExp(`WRONG +.*${found}.*\\n +Do: .*${mend}`))
    expect(err).toContain('1 thing is wrong.')
  })

  test('--config reads the settings and asks their clouds, with names of what is wrong', async () => {
    const file = join(user.folder, 'berth.yml')
    const backend = { ...api().clouds?.settings.backends?.[0] }
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
