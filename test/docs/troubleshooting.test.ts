import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const folders = ['lib', 'cli', 'sandbox', 'functions']

/** All of the source, in which what is one text in several parts reads as one. */
const sources = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, folder, name), 'utf8').replace(/['"`]\s*\+\s*['"`]/g, '')),
)

const page = readFileSync(join(root, 'docs', 'troubleshooting.md'), 'utf8')
const messages = [...page.matchAll(/^\| `(.+?)` \|/gm)].flatMap(([, message]) => message ?? [])

test('the page has a row for each message', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  expect(rows).toHaveLength(messages.length)
  expect(messages.length).toBeGreaterThan(50)
})

test.each(messages)('Berth says: %s', (message) => {
  const parts = message
    .split('…')
    .map((part) => part.trim())
    .filter((part) => /\w{2}/.test(part))
  expect(sources.some((source) => parts.every((part) => source.includes(part)))).toBe(true)
})
