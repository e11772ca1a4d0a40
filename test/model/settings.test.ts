import { describe, expect, test } from 'vitest'
import { readSettings } from '../../lib/settings-file.ts'

const hotaisle = `
  - type: hotaisle
    team_handle: acme
    creds: { type: api_key, api_key: abc123.secretsecret }
`

const oci = `
  - type: oci
    creds: { type: client, user: u, tenancy: t, fingerprint: f, key_content: k, region: eu-frankfurt-1 }
`

describe('berth.yml', () => {
  test('takes a backend as in dstack, with its own keys at their defaults', async () => {
    const read = await readSettings(`backends:${hotaisle}`, 'berth.yml')
    expect(read.backends).toEqual([
      {
        type: 'hotaisle',
        team_handle: 'acme',
        creds: { type: 'api_key', api_key: 'abc123.secretsecret' },
        bare_metal: false,
        api_url: 'https://admin.hotaisle.app/api',
      },
    ])
    expect(read.idle).toEqual({ arrival_grace: 600_000, gpu_percent: 5 })
    expect(read.shim.version).toBe('0.22.5')
  })

  test('takes the same backend under the one project of a dstack server', async () => {
    const nested = `projects:\n- name: main\n  backends:${hotaisle.replaceAll('\n', '\n  ')}`
    expect((await readSettings(nested, 'config.yml')).backends).toHaveLength(1)
  })

  test("takes OCI as in dstack, with Berth's own keys at their defaults", async () => {
    const written =
      'backends: [{type: oci, creds: {type: default}, regions: [uk-london-1], compartment_id: c}]'
    expect((await readSettings(written, 'berth.yml')).backends).toEqual([
      {
        type: 'oci',
        creds: { type: 'default', file: '~/.oci/config', profile: 'DEFAULT' },
        regions: ['uk-london-1'],
        compartment_id: 'c',
        ssh_port: 22,
        experimental_shapes: false,
        prices: {},
        image_version: '0.14',
      },
    ])
  })

  test('takes prices in dollars and keeps them in cents', async () => {
    const read = await readSettings(`backends:${oci}    prices: { BM.GPU.B4.8: 24.40 }`, 'berth.yml')
    expect(read.backends).toMatchObject([{ prices: { 'BM.GPU.B4.8': 2440 } }])
  })

  test('takes both clouds at once', async () => {
    expect((await readSettings(`backends:${hotaisle}${oci}`, 'berth.yml')).backends).toHaveLength(2)
  })

  test.each([
    [
      'a region without images',
      `backends:${oci}    regions: [eu-paris-1]`,
      /regions.0: .* in these regions alone: eu-f/,
    ],
    [
      'two keys',
      `backends:${oci.replace('key_content: k', 'key_content: k, key_file: f')}`,
      /set either key_content/,
    ],
    ['no key', `backends:${oci.replace('key_content: k, ', '')}`, /set either key_content or key_file/],
    ['an endpoint that is none', `backends:${oci}    endpoint: here`, /endpoint: an endpoint starts with/],
    ['a price of nothing', `backends:${oci}    prices: { A: 0 }`, /backends.0.prices.A/],
    ['an unknown key', `backends:${oci}    compartment: c`, /backends.0.compartment: this key is not known/],
  ])('%s of OCI is an error that says what is allowed', async (_, text, expected) => {
    await expect(readSettings(text, 'berth.yml')).rejects.toThrow(expected)
  })

  test.each([
    ['an unknown key at the top', `backends:${hotaisle}\nbackend: x`, 'backend: this key is not known'],
    [
      'an unknown key of a backend',
      `backends:${hotaisle}    baremetal: true`,
      'backends.0.baremetal: this key is not known',
    ],
    ['no backends', 'shim: {version: 0.22.5}', 'list the backends once'],
    ['an unknown backend', 'backends: [{type: azure}]', 'backends.0.type'],
    [
      'a bad span',
      `backends:${hotaisle}\nidle: {arrival_grace: soon}`,
      'idle.arrival_grace: "soon" is not a time span',
    ],
    ['no YAML', 'backends: [', 'is not valid YAML'],
    ['an empty file', '', 'list the backends once'],
  ])('%s is an error that names it', async (_, text, expected) => {
    await expect(readSettings(text, 'berth.yml')).rejects.toThrow(expected)
  })

  test('an error does not repeat a secret', async () => {
    const bad = hotaisle.replace('abc123.secretsecret', 'hunter2')
    await expect(readSettings(`backends:${bad}`, 'berth.yml')).rejects.toThrow(/^(?!.*hunter2)/s)
  })
})
