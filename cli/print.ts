import { styleText } from 'node:util'
import Table from 'cli-table3'
import type { Surroundings } from './surroundings.ts'

type Style = Parameters<typeof styleText>[0]

/** Prints for people and programs: colours where the stream is a terminal and NO_COLOR is not set. */
export const printer = ({ out, err }: Pick<Surroundings, 'out' | 'err'>) => {
  const styled = (style: Style, text: string) => styleText(style, text, { stream: out })
  return {
    styled,
    /** A line to standard output. */
    tell: (line: string) => void out.write(`${line}\n`),
    /** A line beside it, on standard error. */
    note: (line: string) => void err.write(`${line}\n`),
    json: (value: unknown) => void out.write(`${JSON.stringify(value, null, 2)}\n`),
    table: (head: string[], rows: string[][]) => {
      for (const line of tableLines(
        head.map((name) => styled('bold', name)),
        rows,
      ))
        out.write(`${line}\n`)
    },
  }
}

const noBorders = Object.fromEntries(
  ['top', 'bottom', 'left', 'right']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat('mid', 'mid-mid', 'middle')
    .map((part) => [part, '']),
)

/** Columns two blanks apart, as dstack prints them, without blanks at the ends of lines. */
const tableLines = (head: string[], rows: string[][]): string[] => {
  const table = new Table({
    head,
    chars: noBorders,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2, compact: true },
  })
  table.push(...rows)
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
}
