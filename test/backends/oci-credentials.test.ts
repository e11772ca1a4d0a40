import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { countOf } from '../../sandbox/clouds/oci/simulated-oci.ts'
import { type OciStage, offerOf, rent, startOciStage } from './oci-stage.ts'

const hour = 3_600_000

let stage: OciStage
let folder: string
beforeEach(async () => {
  stage = await startOciStage()
  folder = mkdtempSync(join(tmpdir(), 'berth-oci-credentials-'))
})
afterEach(async () => {
  await stage.cloud.stop()
  rmSync(folder, { recursive: true })
})

const file = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const profile = (lines: Record<string, string>, name = 'DEFAULT') =>
  [`[${name}]`, ...Object.entries(lines).map(([key, value]) => `${key}=${value}`), ''].join('\n')

const apiKeyLines = () => {
  const { userId, tenancyId, fingerprint, privateKey, region } = stage.cloud.credentials
  return { user: userId, tenancy: tenancyId, fingerprint, key_file: file('key.pem', privateKey), region }
}

const fromFile = (content: string, name = 'DEFAULT') =>
  stage.another({ creds: { type: 'default', file: file('config', content), profile: name } })

const startSession = (lastsMs?: number) => {
  const session = stage.cloud.startSession(lastsMs)
  const { tenancyId, region } = stage.cloud.credentials
  const lines = {
    tenancy: tenancyId,
    region,
    key_file: file('session.pem', session.privateKey),
    security_token_file: file('token', session.token),
  }
  return { session, lines, backend: fromFile(profile(lines, 'berth'), 'berth') }
}

describe('an API key', () => {
  it('can be in a file of its own, with a pass phrase, and its region can be a key', async () => {
    const { privateKey } = stage.cloud.credentials
    const locked = lock(privateKey, 'open sesame')
    const { user, tenancy, fingerprint } = apiKeyLines()
    const creds = { type: 'client', user, tenancy, fingerprint, region: 'FRA' } as const
    const key_file = file('locked.pem', locked)
    expect(
      await stage.another({ creds: { ...creds, key_file, pass_phrase: 'open sesame' } }).check(),
    ).toEqual({
      ok: true,
    })
    const wrong = await stage.another({ creds: { ...creds, key_file, pass_phrase: 'sesame' } }).check()
    expect(wrong).toMatchObject({ ok: false, state: 'bad', message: expect.stringContaining('pass_phrase') })
  })

  it('can be in a profile, which takes over what DEFAULT has', async () => {
    const { region, ...lines } = apiKeyLines()
    expect(await fromFile(profile({ region }) + profile(lines, 'berth'), 'berth').check()).toEqual({
      ok: true,
    })
  })

  it('that OCI does not know is bad, and the message says what to do', async () => {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    const backend = fromFile(profile({ ...apiKeyLines(), key_file: file('other.pem', privateKey) }))
    expect(await backend.check()).toMatchObject({
      ok: false,
      state: 'bad',
      message: expect.stringMatching(/does not accept the API key .*OCI console/),
    })
  })

  it.each<[string, (lines: Record<string, string>) => string, string]>([
    ['without the profile', (lines) => profile(lines, 'other'), 'has no profile berth'],
    ['without a key_file', ({ key_file: _, ...lines }) => profile(lines, 'berth'), 'There is no key_file'],
    [
      'with a key_file that is not there',
      (lines) => profile({ ...lines, key_file: '/no/key' }, 'berth'),
      '/no/key',
    ],
    [
      'with a key that is none',
      (lines) => profile({ ...lines, key_file: file('none', 'x') }, 'berth'),
      'private key',
    ],
    ['that is no config file', () => 'user: me', 'has no profile berth'],
  ])('in a file %s is an error that says so', async (_, contentOf, words) => {
    const backend = fromFile(contentOf(apiKeyLines()), 'berth')
    expect(await backend.check()).toMatchObject({ state: 'bad', message: expect.stringContaining(words) })
    expect((await backend.offers({})).errors).toMatchObject([{ code: 'bad_credentials' }])
  })

  it('is read again once its file is mended', async () => {
    const backend = fromFile('', 'berth')
    expect(await backend.check()).toMatchObject({ ok: false })
    file('config', profile(apiKeyLines(), 'berth'))
    expect(await backend.check()).toEqual({ ok: true })
  })
})

describe('a session token', () => {
  it('of a profile rents, also after its hour', async () => {
    const { backend } = startSession()
    const ref = await rent({ ...stage, backend }, 'VM.GPU.A10.1')
    stage.clock.advance(hour + 1)
    expect(await backend.state(ref)).toMatchObject({ state: 'running' })
    expect(countOf(stage.cloud.requests, 'refreshSessionToken')).toBe(1)
  })

  it('is exchanged in time, since one that has run out may not be', async () => {
    stage.cloud.switches.onlyFreshTokensRefresh = true
    const { backend } = startSession()
    await backend.check()
    for (let minutes = 0; minutes < 180; minutes += 10) {
      stage.clock.advance(hour / 6)
      expect(await backend.check()).toEqual({ ok: true })
    }
    expect(countOf(stage.cloud.requests, 'refreshSessionToken')).toBeLessThan(6)
  })

  it('is exchanged once for all that were refused at the same time', async () => {
    const { backend } = startSession()
    await offerOf(backend, 'VM.GPU.A10.1')
    stage.clock.advance(hour + 1)
    expect((await backend.offers({})).errors).toEqual([])
    expect(countOf(stage.cloud.requests, 'refreshSessionToken')).toBe(1)
  })

  it('is read again from its files, with its key, where somebody began another session', async () => {
    const { session, backend } = startSession()
    await backend.check()
    stage.cloud.endSession(session.id)
    const next = stage.cloud.startSession()
    file('token', next.token)
    file('session.pem', next.privateKey)
    expect(await backend.check()).toEqual({ ok: true })
  })

  it('that another process exchanged, and put into the file, is used', async () => {
    const { backend } = startSession()
    const profileOfFile = { type: 'default', file: join(folder, 'config'), profile: 'berth' } as const
    const writesBack: typeof fetch = async (url, init) => {
      const response = await fetch(url, init)
      if (String(url).endsWith('/refresh')) file('token', JSON.parse(await response.clone().text()).token)
      return response
    }
    const other = stage.another({ creds: profileOfFile }, { fetch: writesBack })
    await Promise.all([backend.check(), other.check()])
    stage.clock.advance(hour + 1)
    expect(await other.check()).toEqual({ ok: true })
    stage.cloud.faults.always('refreshSessionToken', { kind: 'status', status: 401 })
    expect(await backend.check()).toEqual({ ok: true })
  })

  it('whose session has ended says what to run, and nothing is judged gone because of it', async () => {
    const { session, backend } = startSession()
    const ref = await rent({ ...stage, backend }, 'VM.GPU.A10.1')
    stage.clock.advance(hour + 1)
    stage.cloud.endSession(session.id)
    const words = expect.stringContaining(
      'oci session authenticate --region eu-frankfurt-1 --profile-name berth',
    )
    expect(await backend.state(ref)).toEqual({ state: 'unknown', message: words })
    expect(await backend.release(ref, { force: true })).toMatchObject({ outcome: 'retry', message: words })
    expect(await backend.check()).toEqual({ ok: false, state: 'bad', message: words })
    expect((await backend.owned()).complete).toBe(false)
    expect(stage.cloud.ledger()[0]?.endedAt).toBeNull()
  })

  it('can be in the settings, without files', async () => {
    const { token, privateKey } = stage.cloud.startSession()
    const { tenancyId: tenancy, region } = stage.cloud.credentials
    const creds = {
      type: 'session',
      tenancy,
      region,
      security_token: token,
      key_content: privateKey,
    } as const
    expect(await stage.another({ creds }).check()).toEqual({ ok: true })
  })
})

describe('no secret', () => {
  it('is in a message of any failure', async () => {
    const { session, backend } = startSession()
    stage.cloud.endSession(session.id)
    const said = JSON.stringify([
      await backend.check(),
      await backend.offers({}),
      await backend.owned(),
      await backend.state({ region: 'eu-frankfurt-1', instanceType: 'x', cloudId: 'ocid1.instance.oc1..x' }),
    ])
    expect(said).not.toContain(session.token)
    expect(said).not.toContain('PRIVATE KEY')
  })
})

it('credentials of one tenancy rent in a compartment of another, in the domains that it sees', async () => {
  const { compartmentId } = stage.cloud.otherTenancy
  const backend = stage.another({ compartment_id: compartmentId })
  const offer = await offerOf(backend, 'VM.GPU.A10.1')
  expect(offer).toMatchObject({
    availability: 'available',
    zones: [1, 2, 3].map((n) => `qXyz:EU-FRANKFURT-1-AD-${n}`),
  })
  await rent({ ...stage, backend }, 'VM.GPU.A10.1')
  expect(stage.cloud.ledger()).toMatchObject([{ domain: 'qXyz:EU-FRANKFURT-1-AD-1' }])
})

const lock = (privateKey: string, passphrase: string): string =>
  createPrivateKey(privateKey)
    .export({ type: 'pkcs1', format: 'pem', cipher: 'aes-128-cbc', passphrase })
    .toString()
