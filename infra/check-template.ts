import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pythonTool } from './python-tool.ts'

const root = join(import.meta.dirname, '..')
const version = '1.58.0'
const template = '.berth-package/template/cloudformation-template-update-stack.json'

/** W3005: osls says twice, by DependsOn and by reference, what stands on what. */
const ignored = 'W3005'

type Outcome = { skipped: string } | { failed: string } | { clean: string }

/** Holds the packaged template against cfn-lint. Skipped, in so many words, only where Python or PyPI is not there. */
const checkTemplate = (): Outcome => {
  const lint = pythonTool('cfn-lint', version)
  if (!('command' in lint)) return lint
  const { status, stdout, stderr } = spawnSync(lint.command, ['--ignore-checks', ignored, '--', template], {
    cwd: root,
    encoding: 'utf8',
  })
  return status === 0 ? { clean: template } : { failed: `${stdout ?? ''}${stderr ?? ''}` }
}

const outcome = checkTemplate()
if ('clean' in outcome) console.log(`cfn-lint ${version} finds nothing in ${outcome.clean}`)
else if ('skipped' in outcome)
  console.log(`SKIPPED, the template was not checked by cfn-lint: ${outcome.skipped}`)
else {
  console.error(outcome.failed)
  process.exitCode = 1
}
