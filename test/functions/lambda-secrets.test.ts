import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { lambdaSecrets } from '../../lib/lambda-secrets.ts'
import { newKeyPair } from '../../lib/shim/key-pair.ts'
import { startFakeSsm } from '../fakes/fake-ssm.ts'

const names = {
  BERTH_SETTINGS_PARAMETER: '/berth/prod/settings',
  BERTH_SSH_KEY_PARAMETER: '/berth/prod/ssh-key',
}
const secret = '6ddfaa45.0123456789secret'
const settings = (more: object = {}) =>
  JSON.stringify({
    backends: [{ type: 'hotaisle', team_handle: 'acme', creds: { api_key: secret } }],
    ...more,
  })
const { privateKey } = newKeyPair()

let ssm: Awaited<ReturnType<typeof startFakeSsm>>
beforeAll(() => {
  vi.stubEnv('AWS_REGION', 'us-east-1')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local')
})
afterAll(() => vi.unstubAllEnvs())
beforeEach(async () => {
  ssm = await startFakeSsm()
  vi.stubEnv('AWS_ENDPOINT_URL_SSM', ssm.url)
  return () => ssm.stop()
})

describe('a deployed function', () => {
  test('reads its settings and its SSH key in one call', async () => {
    ssm.put(names.BERTH_SETTINGS_PARAMETER, settings())
    ssm.put(names.BERTH_SSH_KEY_PARAMETER, privateKey)
    const read = await lambdaSecrets(names)
    expect(read.settings.backends).toMatchObject([{ type: 'hotaisle', creds: { api_key: secret } }])
    expect(read.privateKey).toBe(privateKey)
    expect(ssm.calls()).toEqual(['GetParameters'])
  })

  test('says which parameter is missing', async () => {
    ssm.put(names.BERTH_SETTINGS_PARAMETER, settings())
    await expect(lambdaSecrets(names)).rejects.toThrow('SSM has no parameter /berth/prod/ssh-key')
  })

  test('says which key of the settings is wrong, and shows no value', async () => {
    ssm.put(names.BERTH_SETTINGS_PARAMETER, settings({ colour: secret }))
    ssm.put(names.BERTH_SSH_KEY_PARAMETER, privateKey)
    const error = await lambdaSecrets(names).then(String, String)
    expect(error).toContain('/berth/prod/settings is not valid. colour: this key is not known')
    expect(error.includes(secret)).toBe(false)
  })
})

describe('a bundle on no account', () => {
  test('takes both from BERTH_SETTINGS, and asks nobody', async () => {
    const read = await lambdaSecrets({ BERTH_SETTINGS: settings({ ssh: { private_key: privateKey } }) })
    expect(read.privateKey).toBe(privateKey)
    expect(ssm.calls()).toEqual([])
  })

  test('says what it needs', async () => {
    await expect(lambdaSecrets({})).rejects.toThrow('BERTH_SETTINGS_PARAMETER')
    await expect(lambdaSecrets({ BERTH_SETTINGS: settings() })).rejects.toThrow('ssh.private_key')
  })
})
