import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

/** A page, by its path in the repository, with the commands that it tells its reader to type, in their order. */
export type Page = { name: string; commands: string[] }

/** Blocks of `sh` hold commands; others hold them behind a `$`, between what they print. */
export const documentedCommands = (): Page[] =>
  ['README.md', ...markdownIn('docs'), ...markdownIn('docs/decisions')].map((name) => ({
    name,
    commands: blocksOf(readFileSync(join(root, name), 'utf8')).flatMap(({ language, lines }) =>
      language === 'sh'
        ? commandsOf(lines)
        : commandsOf(lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2))),
    ),
  }))

const markdownIn = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `${folder}/${name}`)

/** Code between fences; in a list they are indented. */
const blocksOf = (text: string) =>
  [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```/gm)].map(
    ([, indent = '', language = '', code = '']) => ({
      language,
      lines: code.split('\n').map((line) => line.replace(new RegExp(`^${indent}`), '')),
    }),
  )

/** A command may go on over lines, by a backslash or in quotes. A comment behind it is not part of it. */
const commandsOf = (lines: string[]): string[] => {
  const commands: string[] = []
  let begun = ''
  for (const line of lines) {
    begun = begun === '' ? line : `${begun}\n${line}`
    const isWhole = !begun.endsWith('\\') && (begun.split("'").length - 1) % 2 === 0
    if (!isWhole) continue
    const command = begun.replace(/(^|\s+)# .*$/, '').trim()
    if (command !== '') commands.push(command)
    begun = ''
  }
  if (begun !== '') throw new Error(`a command has no end: ${begun}`)
  return commands
}
