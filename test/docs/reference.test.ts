import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { pages } from '../../reference/pages.ts'

test.each(pages().map(({ file, text }) => [basename(file), file, text] as const))(
  'docs/%s says what the schemas say; `npm run reference` writes it anew',
  (_name, file, text) => {
    expect(readFileSync(file, 'utf8')).toBe(text)
  },
)
