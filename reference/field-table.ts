import { markdownTable } from 'markdown-table'
import { code, type Row } from './schema-rows.ts'

/** A row for each field. `required` marks those that may not be left out, which in answers is nearly all. */
export const fieldTable = (rows: Row[], { required = false } = {}): string =>
  table([['Field', 'Type', ''], ...rows.map((row) => [code(row.path), row.type, wordsOf(row, required)])])

/** Not padded, so that a change of one row is a change of one line. */
export const table = (rows: string[][]): string =>
  markdownTable(
    rows.map((row) => row.map((cell) => cell.replace(/\s*\n\s*/g, ' '))),
    { alignDelimiters: false },
  )

const wordsOf = ({ description, isRequired, examples, ...row }: Row, required: boolean): string =>
  [
    required && isRequired ? '**Required.**' : undefined,
    description,
    row.default === undefined ? undefined : `Default ${code(row.default)}.`,
    examples.length > 0 ? `Such as ${examples.map(code).join(', ')}.` : undefined,
  ]
    .filter(Boolean)
    .join(' ')
