import { describe, expect, test } from 'vitest'
import { readSettings } from '../../lib/settings-file.ts'

const hotaisle = `
  - type: hotaisle
    team_handle: acme
    creds: { type: api_key, api_key: abc123.secretsecret }
`

describe('berth.yml', () => {
  test('takes a backend as in dstack, with its own keys at their defaults', () => {
    const read = readSettings(`backends:${hotaisle}`, 'berth.yml')
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

  test('takes the same backend under the one project of a dstack server', () => {
    const nested = `projects:\n- name: main\n  backends:${hotaisle.replaceAll('\n', '\n  ')}`
    expect(readSettings(nested, 'config.yml').backends).toHaveLength(1)
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
  ])('%s is an error that names it', (_, text, expected) => {
    expect(() => readSettings(text, 'berth.yml')).toThrow(expected)
  })

  test('an error does not repeat a secret', () => {
    const bad = hotaisle.replace('abc123.secretsecret', 'hunter2')
    expect(() => readSettings(`backends:${bad}`, 'berth.yml')).toThrow(/^(?!.*hunter2)/s)
  })
})
