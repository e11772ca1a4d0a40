import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { messageOf } from '../../lib/model/errors.ts'
import { backendType } from '../../lib/model/offer.ts'
import { readFlags } from '../local/flags.ts'
import { startLocalBerth } from '../local/local-berth.ts'
import { plots } from './plots.ts'
import { tellStory } from './story.ts'

const usage = `Usage: npm run demo [-- options]

  --backend hotaisle   which simulated cloud to rent on: hotaisle or oci
  --speed 960          how many times as fast the prepaid hours pass; machines come up at a calmer 120`

const flags = {
  backend: backendType.default('hotaisle'),
  speed: z.coerce.number('a number from 10 to 2000').min(10).max(2000).default(960),
}

/** SSH and shells run in real time, and have their deadlines like everything else. */
const bootSpeed = 120

/** Rents a simulated eight-GPU server and gives it back, on a folder of its own that is thrown away afterwards. */
const main = async (): Promise<boolean> => {
  const { backend, speed } = readFlags(flags, usage)
  const data = mkdtempSync(join(tmpdir(), 'berth-demo-'))
  const problems: string[] = []
  const remember = (message: string, fields?: Record<string, unknown>) => {
    problems.push(`${message} ${JSON.stringify(fields ?? {})}`)
  }
  const berth = await startLocalBerth({
    port: 0,
    data,
    speed: bootSpeed,
    log: {
      info: () => {},
      warn: remember,
      error: remember,
      alarm: (name, message, fields) => remember(`${name}: ${message}`, fields),
      metric: () => {},
    },
  })
  try {
    const told = await tellStory(berth, plots[backend], speed, process.stdout)
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
