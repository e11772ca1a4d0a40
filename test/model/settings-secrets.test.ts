import { afterEach, expect, it } from 'vitest'
import { BerthError, messageOf } from '../../lib/model/errors.ts'
import { readSettings } from '../../lib/settings-file.ts'

const secret = 'hunter2secret'
const warnings: string[] = []
const remember = (warning: Error) => void warnings.push(warning.message)
afterEach(() => {
  process.off('warning', remember)
  warnings.length = 0
})

const oci = (lines: string) => `backends:\n- type: oci\n  creds:\n${lines.replace(/^/gm, '    ')}\n`
const client = 'type: client\nuser: u\ntenancy: t\nfingerprint: f\nregion: FRA\n'

it.each([
  ['for a key and a file at once', oci(`${client}key_content: ${secret}\nkey_file: ${secret}`)],
  [
    'for a number where words are due',
    oci(`type: session\ntenancy: t\nregion: [${secret}]\nsecurity_token: {a: ${secret}}`),
  ],
  ['for creds of no type', oci(`type: ${secret}\nkey_content: ${secret}`)],
  [
    'for a key of Hot Aisle without a prefix',
    `backends:\n- {type: hotaisle, team_handle: t, creds: {api_key: ${secret}}}\n`,
  ],
  ['for a pass phrase that begins with a star', oci(`${client}key_file: k\npass_phrase: *${secret}`)],
  ['for YAML that is none', oci(`${client}key_content: "${secret}`)],
  [
    'for a private key that is not indented',
    oci(`${client}key_content: |\n`).concat(`-----BEGIN\n${secret}\n`),
  ],
])('settings that are wrong repeat no value: %s', async (_, text) => {
  let said: unknown
  try {
    await readSettings(text, 'berth.yml')
  } catch (error) {
    said = error
  }
  expect(said).toBeInstanceOf(BerthError)
  expect(messageOf(said) + JSON.stringify(said)).not.toContain(secret)
})

it('a pass phrase that YAML takes for a tag shows in no warning', async () => {
  process.on('warning', remember)
  try {
    await readSettings(oci(`${client}key_file: k\npass_phrase: !${secret} x`), 'berth.yml')
  } catch (error) {
    expect(messageOf(error)).not.toContain(secret)
  }
  await new Promise((resolve) => setImmediate(resolve))
  expect(warnings).toEqual([])
})
