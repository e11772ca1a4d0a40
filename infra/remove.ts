import { messageOf } from '../lib/model/errors.ts'
import { randomHex } from '../lib/random-hex.ts'
import { createDynamoClient } from '../lib/store/dynamo-client.ts'
import { createDynamoStore } from '../lib/store/dynamo-store.ts'
import { readFlags } from '../sandbox/local/flags.ts'
import { deploymentFlags, deploymentUsage } from './flags.ts'
import { liveInstances, waysToEnd } from './live-instances.ts'
import { ofStage, tableName } from './names.ts'
import { parameters } from './roles.ts'
import { run } from './run.ts'
import { writePieces } from './write-pieces.ts'

const usage = `Usage: npm run remove [-- options]

${deploymentUsage}`

/** Takes the stack away, unless instances live. */
const remove = async () => {
  const { stage, region } = readFlags(deploymentFlags, usage)
  const named = (name: string) => ofStage(name, stage)
  const client = createDynamoClient({ region })
  const store = createDynamoStore({ client, table: named(tableName), random: { hex: randomHex } })
  const live = await liveInstances(store, Date.now())
  if (live.length > 0)
    throw new Error(`Nothing was removed: instances live.\n\n${live.join('\n')}\n\n${waysToEnd}`)
  writePieces()
  run('osls', ['remove', '--stage', stage, '--region', region])
  // A request that came in at the last moment.
  const late = await liveInstances(store, Date.now())
  client.destroy()
  if (late.length > 0) {
    throw new Error(
      `Removed, but these began meanwhile. Look for each in the console of its cloud, and delete it there (docs/runbook.md says how they are marked):\n\n${late.join('\n')}`,
    )
  }
  console.log(`What stays is what cannot be made again: the table ${named(tableName)} (history and API keys) and the
parameters ${named(parameters.settings)} and ${named(parameters.sshKey)}. docs/deploy.md, "Remove", says how they go.`)
}

remove().catch((error: unknown) => {
  console.error(messageOf(error))
  process.exit(1)
})
