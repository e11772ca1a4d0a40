import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { packageFolder } from '../../infra/write-pieces.ts'

const root = join(import.meta.dirname, '../..')

const resource = z.object({
  Type: z.string(),
  DeletionPolicy: z.string().optional(),
  Properties: z.record(z.string(), z.unknown()).default({}),
})
const template = z.object({ Resources: z.record(z.string(), resource) })
export type Template = z.infer<typeof template>

export const readTemplate = (text: string): Template => template.parse(JSON.parse(text))

/**
 * What `npm run package` makes, and the template that would be deployed. Without credentials, without a home that could
 * hold some, and with nobody to talk to.
 */
export const packageAll = (): Template => {
  // Kept between runs: osls starts slower where it has never been.
  const home = join(tmpdir(), 'berth-test-home')
  mkdirSync(home, { recursive: true })
  const nobody = 'http://127.0.0.1:9'
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    AWS_EC2_METADATA_DISABLED: 'true',
    HTTP_PROXY: nobody,
    HTTPS_PROXY: nobody,
  }
  const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: root, env, stdio: 'pipe' })
  run('infra/package.ts')
  run('node_modules/osls/bin/serverless.js', 'package', '--package', '.berth-package/template')
  const file = join(packageFolder, 'template', 'cloudformation-template-update-stack.json')
  return readTemplate(readFileSync(file, 'utf8'))
}
