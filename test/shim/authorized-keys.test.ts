import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { authorizeCommand } from '../../lib/shim/authorized-keys.ts'

const begin = '# berth begin: this block is rewritten by Berth'
const end = '# berth end'
let home: string
const file = () => join(home, '.ssh/authorized_keys')
const read = () => readFileSync(file(), 'utf8')
const write = (text: string) => {
  mkdirSync(join(home, '.ssh'), { recursive: true })
  writeFileSync(file(), text)
}
const authorize = (...keys: string[]) => {
  const { command, input } = authorizeCommand('ssh-ed25519 OWN berth', keys)
  execFileSync('/bin/bash', ['-c', command], { input, env: { HOME: home, PATH: process.env.PATH } })
}

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'berth-home-'))
})
afterEach(() => rmSync(home, { recursive: true }))

test('a missing file is made, for its owner alone', () => {
  authorize('ssh-rsa A a')
  expect(read()).toBe(`${begin}\nssh-ed25519 OWN berth\nssh-rsa A a\n${end}\n`)
  expect(statSync(file()).mode & 0o777).toBe(0o600)
  expect(readdirSync(join(home, '.ssh'))).toEqual(['authorized_keys'])
})

test('other lines stay, the block is replaced', () => {
  write(`# mine\nssh-rsa IMAGE image\n${begin}\nssh-rsa OLD old\n${end}\nssh-rsa LATER later`)
  authorize('ssh-rsa NEW new')
  expect(read()).toBe(
    `# mine\nssh-rsa IMAGE image\nssh-rsa LATER later\n${begin}\nssh-ed25519 OWN berth\nssh-rsa NEW new\n${end}\n`,
  )
})

test('again with the same keys changes nothing', () => {
  authorize('ssh-rsa A a')
  const first = read()
  authorize('ssh-rsa A a', 'ssh-rsa A a')
  expect(read()).toBe(first)
})

test('without keys, the own one stays', () => {
  authorize('ssh-rsa A a')
  authorize()
  expect(read()).toBe(`${begin}\nssh-ed25519 OWN berth\n${end}\n`)
})

test('of a block without an end, no key is lost', () => {
  write(`${begin}\nssh-rsa A a\nssh-rsa B b\n`)
  authorize()
  expect(read()).toContain('ssh-rsa A a\nssh-rsa B b\n')
})

test('a file that is a link stays one', () => {
  writeFileSync(join(home, 'keys'), 'ssh-rsa A a\n')
  mkdirSync(join(home, '.ssh'))
  symlinkSync(join(home, 'keys'), file())
  authorize()
  expect(readFileSync(join(home, 'keys'), 'utf8')).toContain('ssh-ed25519 OWN berth')
})

test.each(['', 'ssh-rsa A\nssh-rsa B', '# berth end'])('a key that is not one line is refused: %j', (key) => {
  expect(() => authorizeCommand('own', [key])).toThrow('An SSH key must be one line')
})
