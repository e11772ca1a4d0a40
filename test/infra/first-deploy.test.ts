import { SSMClient } from '@aws-sdk/client-ssm'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { prepareSecrets } from '../../infra/first-deploy.ts'
import { readSettings } from '../../lib/settings-file.ts'
import { newKeyPair } from '../../lib/shim/key-pair.ts'
import { publicKeyOf } from '../../lib/shim/public-key.ts'
import { startFakeSsm } from '../fakes/fake-ssm.ts'

const settingsName = '/berth/prod/settings'
const keyName = '/berth/prod/ssh-key'
const secret = '6ddfaa45.0123456789secret'
const berthYml = `# ours
backends:
  - type: hotaisle
    team_handle: acme
    creds: {type: api_key, api_key: ${secret}}
`
const withKey = (key: string) => `${berthYml}ssh:\n  private_key: |\n${key.replace(/^/gm, '    ')}\n`
const given = (text = berthYml) => ({ file: 'berth.yml', text })

let ssm: Awaited<ReturnType<typeof startFakeSsm>>
let client: SSMClient
beforeEach(async () => {
  ssm = await startFakeSsm()
  client = new SSMClient({
    endpoint: ssm.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
})
afterEach(async () => {
  client.destroy()
  await ssm.stop()
})

const prepare = async (text?: string, stage = 'prod') => {
  const secrets = await prepareSecrets(client, { stage, given: text === undefined ? undefined : given(text) })
  return secrets.put()
}

describe('the first deployment', () => {
  test('keeps the settings, as JSON, and a new ed25519 key in the format of OpenSSH', async () => {
    const told = await prepare(berthYml)
    const { [settingsName]: settings = '', [keyName]: key = '', ...more } = ssm.values()
    expect(more).toEqual({})
    expect(JSON.parse(settings)).toEqual({
      backends: [{ type: 'hotaisle', team_handle: 'acme', creds: { type: 'api_key', api_key: secret } }],
    })
    expect(await readSettings(settings, 'it')).toEqual(await readSettings(berthYml, 'berth.yml'))
    expect(key).toMatch(/^-----BEGIN OPENSSH PRIVATE KEY-----\n/)
    expect(publicKeyOf(key)).toMatch(/^ssh-ed25519 /)
    expect(told).toEqual([
      `A new SSH key is in ${keyName}.`,
      `The settings of berth.yml are in ${settingsName}.`,
    ])
  })

  test('without settings is refused, says how to give them, and writes nothing', async () => {
    await expect(prepare()).rejects.toThrow('npm run deploy -- --settings berth.yml')
    expect(ssm.values()).toEqual({})
  })

  test.each([
    ['an unknown key', `${berthYml}colour: red\n`, 'colour: this key is not known'],
    ['no YAML', 'backends: [', 'not valid YAML'],
    ['an SSH key that cannot be read', withKey('a key'), 'The SSH private key cannot be read'],
    [
      "a profile of OCI's config file",
      'backends:\n  - type: oci\n    creds: {type: default}\n',
      'creds of type default (~/.oci/config)',
    ],
    [
      'a key in a file',
      'backends:\n  - {type: oci, creds: {type: client, user: u, tenancy: t, fingerprint: f, key_file: ~/k.pem, region: FRA}}\n',
      'key_file (~/k.pem)',
    ],
  ])('with settings that have %s is refused, and writes nothing', async (_, text, told) => {
    await expect(prepare(text)).rejects.toThrow(told)
    expect(ssm.values()).toEqual({})
  })

  test('takes the SSH key of the settings, and keeps it apart from them', async () => {
    const { privateKey } = newKeyPair()
    await prepare(withKey(privateKey))
    const values = ssm.values()
    expect(publicKeyOf(values[keyName] ?? '')).toBe(publicKeyOf(privateKey))
    expect(values[settingsName]).not.toContain('PRIVATE KEY')
  })

  test('takes settings that are too long for a standard parameter', async () => {
    await prepare(`${berthYml}shim: {version: ${'a'.repeat(5000)}}\n`)
    expect(ssm.values()[settingsName]?.length).toBeGreaterThan(5000)
  })

  test('that failed after the key goes on with that key', async () => {
    const { privateKey } = newKeyPair()
    ssm.put(keyName, privateKey)
    await prepare(berthYml)
    expect(ssm.values()[keyName]).toBe(privateKey)
    expect(Object.keys(ssm.values())).toContain(settingsName)
  })

  test('of another stage has settings and a key of its own', async () => {
    await prepare(berthYml)
    await expect(prepare(undefined, 'dev')).rejects.toThrow('no settings for the stage dev')
    await prepare(berthYml, 'dev')
    expect(ssm.values()['/berth/dev/ssh-key']).not.toBe(ssm.values()[keyName])
  })
})

describe('a later deployment', () => {
  beforeEach(() => prepare(berthYml))

  test('without settings changes nothing, and reads no key', async () => {
    const before = ssm.values()
    expect(await prepare()).toEqual([])
    expect(ssm.values()).toEqual(before)
    expect(ssm.decrypted()).toEqual([settingsName])
  })

  test('without settings is refused when this version cannot read those that are there, and shows nothing of them', async () => {
    ssm.put(
      settingsName,
      JSON.stringify({ ...JSON.parse(ssm.values()[settingsName] ?? ''), from_tomorrow: 1 }),
    )
    const refused = expect(prepare()).rejects
    await refused.toThrow('npm run deploy -- --settings berth.yml')
    await refused.toThrow('from_tomorrow: this key is not known')
    await refused.not.toThrow(secret)
    expect(await prepare(berthYml)).toEqual([`The settings of berth.yml are in ${settingsName}.`])
  })

  test('with settings replaces them, and never the key', async () => {
    const before = ssm.values()
    await prepare(withKey(newKeyPair().privateKey).replace('acme', 'other'))
    expect(ssm.values()[settingsName]).toContain('other')
    expect(ssm.values()[keyName]).toBe(before[keyName])
  })

  test('says so when the SSH key of its settings is not taken', async () => {
    expect(await prepare(withKey(newKeyPair().privateKey))).toContain(
      `ssh.private_key is not taken: ${keyName} has a key already.`,
    )
  })

  test('is refused when the SSH key is gone: machines in service could not be entered', async () => {
    ssm.remove(keyName)
    const before = ssm.values()
    await expect(prepare(berthYml)).rejects.toThrow(`no SSH key at ${keyName}`)
    expect(ssm.values()).toEqual(before)
  })
})

test('nothing that is said holds a secret', async () => {
  const { privateKey } = newKeyPair()
  const line = privateKey.split('\n')[2] ?? ''
  const errors = await Promise.all(
    [`${withKey(privateKey)}colour: red\n`, `${withKey(privateKey)}]`].map((text) =>
      prepare(text).then(String, (error: unknown) => String(error)),
    ),
  )
  const said = [...errors, ...(await prepare(withKey(privateKey)))].join('\n')
  expect(said).toContain('SSH key')
  expect(said.includes(secret)).toBe(false)
  expect(said.includes(line)).toBe(false)
})
