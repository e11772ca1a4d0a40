import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { messageOf } from '../../lib/model/errors.ts'
import { startLocalBerth } from '../local/local-berth.ts'
import { tellStory } from './story.ts'

const usage = `Usage: npm run demo [-- options]

  --speed 480   how many times as fast time runs: eight hours in a minute`

const flags = z.object({
  speed: z.coerce.number().min(60).max(1200).default(480),
  help: z.boolean().default(false),
})

/** Rents the simulated eight-GPU server and gives it back, on a folder of its own that is thrown away afterwards. */
const main = async (): Promise<boolean> => {
  const { values } = parseArgs({ options: { speed: { type: 'string' }, help: { type: 'boolean' } } })
  const { speed, help } = flags.parse(values)
  if (help) {
    console.log(usage)
    return true
  }
  const data = mkdtempSync(join(tmpdir(), 'berth-demo-'))
  const problems: string[] = []
  const remember = (message: string, fields?: Record<string, unknown>) => {
    problems.push(`${message} ${JSON.stringify(fields ?? {})}`)
  }
  const berth = await startLocalBerth({
    port: 0,
    data,
    speed,
    log: { info: () => {}, warn: remember, error: remember },
  })
  try {
    const told = await tellStory(berth, speed, process.stdout)
    for (const problem of told ? [] : problems) console.error(problem)
    return told
  } finally {
    await berth.stop()
    rmSync(data, { recursive: true, force: true })
  }
}

main().then(
  (told) => process.exit(told ? 0 : 1),
  (error: unknown) => {
    console.error(`The demo did not reach its end. ${messageOf(error)}`)
    process.exit(1)
  },
)
