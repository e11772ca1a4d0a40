import { readFileSync } from 'node:fs'
import { SSMClient } from '@aws-sdk/client-ssm'
import * as z from 'zod'
import { messageOf } from '../lib/model/errors.ts'
import { createDynamoClient } from '../lib/store/dynamo-client.ts'
import { readFlags } from '../sandbox/local/flags.ts'
import { deployTo } from './deployment.ts'
import { deploymentFlags, deploymentUsage } from './flags.ts'
import { hasTable } from './has-table.ts'
import { run } from './run.ts'

const usage = `Usage: npm run deploy [-- options]

  --settings berth.yml the settings; needed the first time, later only when they change
${deploymentUsage}`

const flags = { ...deploymentFlags, settings: z.string().min(1).optional() }

const deploy = async () => {
  const { stage, region, settings } = readFlags(flags, usage)
  const given = settings === undefined ? undefined : { file: settings, text: readFileSync(settings, 'utf8') }
  const ssm = new SSMClient({ region })
  const dynamo = createDynamoClient({ region })
  try {
    const parts = {
      ssm,
      hasTable: (name: string) => hasTable(dynamo, name),
      run,
      say: (line: string) => console.log(line),
    }
    await deployTo(parts, { stage, region, given })
  } finally {
    ssm.destroy()
    dynamo.destroy()
  }
}

deploy().catch((error: unknown) => {
  console.error(`Nothing more was done. ${messageOf(error)}`)
  process.exit(1)
})
