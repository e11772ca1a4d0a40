import { readFileSync } from 'node:fs'
import { SSMClient } from '@aws-sdk/client-ssm'
import * as z from 'zod'
import { messageOf } from '../lib/model/errors.ts'
import { readFlags } from '../sandbox/local/flags.ts'
import { prepareSecrets } from './first-deploy.ts'
import { deploymentFlags, deploymentUsage } from './flags.ts'
import { run } from './run.ts'

const usage = `Usage: npm run deploy [-- options]

  --settings berth.yml the settings; needed the first time, later only when they change
${deploymentUsage}`

const flags = { ...deploymentFlags, settings: z.string().min(1).optional() }

/** From whatever is there to a running Berth of this code: secrets where they are absent, packages, the stack. */
const deploy = async () => {
  const { stage, region, settings } = readFlags(flags, usage)
  const given = settings === undefined ? undefined : { file: settings, text: readFileSync(settings, 'utf8') }
  const client = new SSMClient({ region })
  const done = await prepareSecrets(client, { stage, given })
  client.destroy()
  for (const line of done) console.log(line)
  run(process.execPath, ['infra/package.ts'])
  // Also when only the settings are new: functions that wait for requests go on with those they have read.
  run('osls', ['deploy', '--force', '--stage', stage, '--region', region])
}

deploy().catch((error: unknown) => {
  console.error(`Nothing more was done. ${messageOf(error)}`)
  process.exit(1)
})
