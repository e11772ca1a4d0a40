import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const version = '1.58.0'
const environment = join(root, `.berth-cfn-lint-${version}`)
const template = '.berth-package/template/cloudformation-template-update-stack.json'

/** W3005: osls says twice, by DependsOn and by reference, what stands on what. */
const ignored = 'W3005'

type Outcome = { skipped: string } | { failed: string } | { clean: string }
type Ran = { ok: boolean; output: string }

/** Holds the packaged template against cfn-lint. Skipped, in so many words, only where Python or PyPI is not there. */
const checkTemplate = (): Outcome => {
  if (!run('python3', ['--version']).ok) return { skipped: 'there is no python3' }
  const lint = join(environment, 'bin', 'cfn-lint')
  if (!existsSync(lint)) {
    const made = run('python3', ['-m', 'venv', environment])
    if (!made.ok) return { skipped: `python3 has no venv (${lastLine(made)})` }
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `cfn-lint==${version}`]
    const got = run(join(environment, 'bin', 'python'), pip)
    if (!got.ok && isUnreachable(got)) return { skipped: `PyPI cannot be reached (${lastLine(got)})` }
    if (!got.ok) return { failed: got.output }
  }
  const linted = run(lint, ['--ignore-checks', ignored, '--', template])
  return linted.ok ? { clean: template } : { failed: linted.output }
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

const outcome = checkTemplate()
if ('clean' in outcome) console.log(`cfn-lint ${version} finds nothing in ${outcome.clean}`)
else if ('skipped' in outcome)
  console.log(`SKIPPED, the template was not checked by cfn-lint: ${outcome.skipped}`)
else {
  console.error(outcome.failed)
  process.exitCode = 1
}
