import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { LocalBerth } from '../../sandbox/local/local-berth.ts'
import { createUser, startBerth, type User } from '../cli/stage.ts'
import { documentedCommands, type Page } from './documented-commands.ts'
import { deployments, notRunHere } from './not-run-here.ts'

const root = join(import.meta.dirname, '..', '..')
const pages = documentedCommands()

const isRun = ({ name }: Page, command: string) =>
  !notRunHere.some(([pattern]) => pattern.test(command)) && !deployments[name]?.test(command)
const looks = (command: string) => /berth (doctor|offer|reservations|cost|ps)\b/.test(command)
const isServer = (command: string) => command.startsWith('npm start')

let user: User
let berth: LocalBerth
const servers: ChildProcess[] = []
/** What runs already, or changes nothing and has been seen to work on an earlier page. */
const seen = new Set<string>()

beforeAll(async () => {
  user = createUser()
  for (const name of readdirSync(root)) {
    if (name !== '.berth' && name !== '.git') symlinkSync(join(root, name), join(user.folder, name))
  }
  const bin = join(user.home, 'bin')
  mkdirSync(bin)
  // What npx finds in a checkout is the project's own command; this finds it without npm's second or two.
  executable(join(bin, 'npx'), '[ "$1" = berth ] && shift && exec berth "$@"; echo "npx $* ?" >&2; exit 127')
  executable(join(bin, 'berth'), `exec "${process.execPath}" "${join(root, 'cli', 'berth.js')}" "$@"`)
  symlinkSync(process.execPath, join(bin, 'node'))
  symlinkSync(join(root, 'test', 'cli', 'ssh-client.ts'), join(bin, 'ssh'))
  mkdirSync(join(user.home, '.config', 'fish', 'completions'), { recursive: true })
  berth = await startBerth(user, 30)
  // Real settings in all but where the clouds are.
  writeFileSync(join(user.folder, 'berth.yml'), stringify(berth.clouds?.settings))
  writeFileSync(join(user.folder, 'amd.dstack.yml'), stringify(fleet))
}, 60_000)
afterAll(async () => {
  for (const server of servers.splice(0)) await ended(server)
  await berth.stop()
  user.remove()
})

const fleet = {
  type: 'fleet',
  name: 'amd',
  nodes: 1,
  backends: ['hotaisle'],
  instance_types: ['vm-mi300x-2'],
}

test('what is not run here is in the docs', () => {
  const all = pages.flatMap(({ commands }) => commands)
  expect(notRunHere.filter(([pattern]) => !all.some((command) => pattern.test(command)))).toEqual([])
})

describe('the commands work, in their order', () => {
  const told = pages.filter((page) => page.commands.some((command) => isRun(page, command)))
  test.each(told.map((page) => [page.name, page] as const))(
    'of %s',
    async (_name, page) => {
      const commands = page.commands.filter((command) => isRun(page, command) && !seen.has(command))
      for (const command of commands.filter(isServer)) await serve(command)
      for (const command of commands) if (isServer(command) || looks(command)) seen.add(command)
      const before = page.name === 'docs/runbook.md' ? asUsingTells() : []
      const results = await type([...before, ...commands.filter((command) => !isServer(command))])
      for (const server of servers.splice(0)) await ended(server)
      expect(results.filter(({ code }) => code !== 0)).toEqual([])
      // What curl gets from the API it shows, and ends well.
      expect(results.filter(({ output }) => output.includes('"code":"'))).toEqual([])
    },
    120_000,
  )
})

/** The runbook's reader has the key, the address and the word `berth` from the page about the API. */
const asUsingTells = (): string[] =>
  pages.find(({ name }) => name === 'docs/using.md')?.commands.slice(0, 3) ?? []

/** Starts what the docs start, on a free port, and on a folder of its own where it would share ours. */
const serve = async (command: string): Promise<void> => {
  const words = command.split(' ').slice(2)
  const own = words.includes('--data') ? [] : ['--data', `.berth-${seen.size}-${servers.length}`]
  const args = ['start', '--', ...words.slice(1), ...own, '--port', '0']
  const child = spawn('npm', args, { cwd: user.folder, env: environment() })
  servers.push(child)
  let output = ''
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      if (output.includes('Berth is ready on')) resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', () => reject(new Error(`"${command}" ended: ${output}`)))
  })
}

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGINT')
  await exit
}

type Result = { command: string; code: number; output: string }

/** Types the commands into one shell. */
const type = (commands: string[]): Promise<Result[]> => {
  const script = commands.flatMap((command) => [
    `printf '\\n@@ begin\\n'`,
    typed(command),
    `printf '\\n@@ end %s\\n' $?`,
  ])
  return new Promise((resolve) => {
    const options = { cwd: user.folder, env: environment(), maxBuffer: 2 ** 26 }
    const child = execFile('bash', [], options, (_error, out, err) => {
      const parts = [...out.matchAll(/\n@@ begin\n([\s\S]*?)\n@@ end (\d+)\n/g)]
      resolve(
        commands.map((command, index) => {
          const [, output = '', code = '-1'] = parts[index] ?? []
          return { command, code: Number(code), output: code === '0' ? output : `${output}${err}` }
        }),
      )
    })
    child.stdin?.end(`exec 2>&1\n${script.join('\n')}\n`)
  })
}

/** As a person would: answers with yes, leaves a session at once, and puts a name where the docs have a placeholder. */
const typed = (command: string): string => {
  const asks = /^(npx )?berth (rent|apply|delete|stop .*--force)\b/.test(command) && !/ -y\b/.test(command)
  const enters = /^(npx )?berth ssh\b/.test(command) && !command.includes(' -- ')
  const [latest] = ['$(berth ps --json | node -p "JSON.parse(fs.readFileSync(0)).instances[0].id")']
  return `${command}${asks ? ' -y' : ''}${enters ? ' -- true' : ''}`
    .replaceAll('http://127.0.0.1:8377', berth.url)
    .replace(/\bNAME\b|i-0a1b2c3d4e5f/, latest)
}

const environment = () => ({
  HOME: user.home,
  PATH: `${join(user.home, 'bin')}:${process.env.PATH}`,
})

const executable = (file: string, script: string) => {
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
}
