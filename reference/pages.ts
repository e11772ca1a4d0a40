import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiDocument } from '../lib/http/openapi-document.ts'
import { apiReference } from './api-reference.ts'
import { settingsReference } from './settings-reference.ts'

const docs = join(import.meta.dirname, '..', 'docs')
const [begin, end] = ['<!-- npm run reference: begin -->', '<!-- npm run reference: end -->']

/** The pages of docs/ that are made, wholly or between two marks, as they are to be. */
export const pages = (): { file: string; text: string }[] => [
  { file: join(docs, 'api-reference.md'), text: apiReference(JSON.parse(openApiDocument)) },
  { file: join(docs, 'settings.md'), text: filledIn('settings.md', settingsReference()) },
]

const filledIn = (name: string, text: string): string => {
  const page = readFileSync(join(docs, name), 'utf8')
  const [before, rest] = page.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`docs/${name} has lost its marks`)
  return `${before}${begin}\n\n${text}\n\n${end}${after}`
}
