import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

export type PythonTool = { command: string } | { skipped: string } | { failed: string }
type Ran = { ok: boolean; output: string }

/**
 * The command of a package of PyPI, in an environment of its own beside the code, made when it is not there yet.
 * `skipped` says, in so many words, that Python or PyPI is not there.
 */
export const pythonTool = (name: string, version: string, command = name): PythonTool => {
  if (!run('python3', ['--version']).ok) return { skipped: 'there is no python3' }
  const environment = join(root, `.berth-${name}-${version}`)
  const tool = join(environment, 'bin', command)
  if (existsSync(tool)) return { command: tool }
  const made = run('python3', ['-m', 'venv', environment])
  if (!made.ok) return { skipped: `python3 has no venv (${lastLine(made)})` }
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `${name}==${version}`]
  const got = run(join(environment, 'bin', 'python'), pip)
  if (!got.ok && isUnreachable(got)) return { skipped: `PyPI cannot be reached (${lastLine(got)})` }
  return got.ok ? { command: tool } : { failed: got.output }
}

const run = (command: string, args: string[]): Ran => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  return { ok: status === 0, output: `${stdout ?? ''}${stderr ?? ''}` }
}

const isUnreachable = ({ output }: Ran) =>
  /NewConnectionError|ConnectTimeout|ProxyError|Name or service not known|name resolution|Read timed out/.test(
    output,
  )

const lastLine = ({ output }: Ran) => output.trim().split('\n').at(-1) ?? ''
