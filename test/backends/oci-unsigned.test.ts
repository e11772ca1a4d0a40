import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { intend, type OciStage, startOciStage } from './oci-stage.ts'

let stage: OciStage
beforeEach(async () => {
  stage = await startOciStage()
})
afterEach(() => stage.cloud.stop())

const sessionCreds = (token: string) => {
  const { privateKey } = stage.cloud.startSession()
  const { tenancyId: tenancy, region } = stage.cloud.credentials
  return { type: 'session', tenancy, region, security_token: token, key_content: privateKey } as const
}

describe('a session token that was broken in two lines', () => {
  const broken = () => stage.another({ creds: sessionCreds('eyJsecretOne\neyJsecretTwo') })

  it('shows in no message', async () => {
    const said = JSON.stringify([await broken().check(), await broken().offers({}), await broken().owned()])
    expect(said).not.toMatch(/secretOne|secretTwo/)
  })

  it('is bad, and launches nothing', async () => {
    expect(await broken().check()).toMatchObject({ ok: false, state: 'bad' })
    expect(await broken().launch(await intend(stage, 'VM.GPU.A10.1'))).toMatchObject({
      outcome: 'rejected',
      code: 'bad_credentials',
    })
  })
})

it('a key that is not RSA is bad, and the message says so', async () => {
  const { privateKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const { tenancyId: tenancy, userId: user, fingerprint, region } = stage.cloud.credentials
  const creds = { type: 'client', tenancy, user, fingerprint, region, key_content: privateKey } as const
  expect(await stage.another({ creds }).check()).toMatchObject({
    ok: false,
    state: 'bad',
    message: expect.stringContaining('RSA'),
  })
})

describe('an API key in files', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-oci-key-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('is read again once OCI has refused it, since somebody may have put another there', async () => {
    const { tenancyId, userId, fingerprint, privateKey, region } = stage.cloud.credentials
    const key = join(folder, 'key.pem')
    const write = (print: string) =>
      writeFileSync(
        join(folder, 'config'),
        `[DEFAULT]\nuser=${userId}\ntenancy=${tenancyId}\nregion=${region}\nfingerprint=${print}\nkey_file=${key}\n`,
      )
    writeFileSync(key, privateKey)
    write('00:11')
    const backend = stage.another({
      creds: { type: 'default', file: join(folder, 'config'), profile: 'DEFAULT' },
    })
    expect(await backend.check()).toMatchObject({ ok: false, state: 'bad' })
    write(fingerprint)
    expect(await backend.check()).toEqual({ ok: true })
  })
})
