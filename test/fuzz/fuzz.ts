import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { pythonTool } from '../../infra/python-tool.ts'
import { readFlags } from '../../sandbox/local/flags.ts'
import { type LocalBerth, startLocalBerth } from '../../sandbox/local/local-berth.ts'
import { allowFewMachines } from './few-machines.ts'
import { startWitness, type Witness } from './witness.ts'

const usage = `Usage: npm run fuzz -- [options]

  --requests 10000   about so many requests
  --seed 1           other seeds send other requests

Sends requests that nobody would think of to a local API on simulated clouds, made by schemathesis from the API's own
document, and holds every answer against it. Needs Python 3.10 or newer; without one it says so and ends well.`

const version = '4.32.5'
const flags = {
  requests: z.coerce.number('a number').int().min(10).max(10_000_000).default(10_000),
  seed: z.coerce.number('a number').int().min(0).default(1),
}
/** All that schemathesis knows and that is true of this API; what is left out, and why, is in docs/api.md. */
const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'unsupported_method',
  'allow_header_conformance',
  'ignored_auth',
]

const main = async () => {
  const { requests, seed } = readFlags(flags, usage)
  const tool = pythonTool('schemathesis', version)
  if ('skipped' in tool) return console.log(`SKIPPED, the API was not fuzzed: ${tool.skipped}`)
  if ('failed' in tool) throw new Error(tool.failed)

  const data = mkdtempSync(join(tmpdir(), 'berth-fuzz-'))
  const alarms: string[] = []
  const failures: string[] = []
  const berth = await startLocalBerth({
    port: 0,
    data,
    speed: 20,
    log: {
      info: () => {},
      warn: () => {},
      error: (message, fields) => failures.push(`${message} ${JSON.stringify(fields)}`),
      alarm: (name, message) => alarms.push(`${name}: ${message}`),
      metric: () => {},
    },
  })
  allowFewMachines(berth)
  // One key asks everything: how much it may ask is tried elsewhere.
  berth.context.settings.api.requests_per_second = 1000
  const witness = await startWitness(berth.url)
  let good = true
  try {
    await rentForThePool(berth)
    berth.setSpeed(4)
    for (let round = 0; witness.requests() < requests && good; round++) {
      const before = witness.requests()
      good = await runRound(tool.command, witness, {
        data,
        key: berth.apiKey,
        seed: seed + round,
        left: requests - before,
        // These say all that they have to say in one round.
        all: round === 0 && requests >= 2000,
      })
      if (witness.requests() === before) throw new Error('schemathesis made no requests')
    }
  } finally {
    report(witness, berth, { failures, alarms })
    await witness.stop()
    await berth.stop()
    rmSync(data, { recursive: true, force: true })
  }
  if (!good || witness.wrongs().size > 0 || failures.length > 0) process.exitCode = 1
}

type Round = { data: string; key: string; seed: number; left: number; all: boolean }

/** One run of schemathesis. True when it finds nothing. */
const runRound = async (command: string, witness: Witness, { data, key, seed, left, all }: Round) => {
  const phases = all ? ['examples', 'coverage', 'fuzzing', 'stateful'] : ['examples', 'fuzzing', 'stateful']
  const perOperation = Math.max(1, Math.min(400, Math.floor(left / requestsOfAnExample)))
  const args = ['run', `${witness.url}/openapi.json`, '--no-color']
  args.push('--phases', phases.join(','), '--checks', checks.join(','))
  args.push('--max-examples', String(perOperation), '--seed', String(seed), '--generation-database', 'none')
  // With one worker, so that a seed sends the same again, and since Python 3.11 fails at parsing in two threads at once.
  args.push('--workers', '1')
  // Without shrinking the count stays near what was asked for; the witness shows every wrong answer anyway.
  args.push('--no-shrink', '--continue-on-failure', '--suppress-health-check', 'all')
  args.push('--header', `Authorization: Bearer ${key}`, '--request-timeout', '30')
  const child = spawn(command, args, { stdio: 'inherit', cwd: data })
  const [code] = await once(child, 'exit')
  return code === 0
}

/** How many requests a round makes for one example an operation, as measured: nine operations, and chains of them. */
const requestsOfAnExample = 13

/** So that there is something to claim, to release and to give back. */
const rentForThePool = async ({ url, apiKey, context }: LocalBerth) => {
  const ids: string[] = []
  for (const gpu of ['MI300X:1', 'A10:1']) {
    const response = await fetch(`${url}/instances`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ gpu, claim: false, idleDuration: 'off', reuse: false }),
    })
    ids.push(z.object({ id: z.string() }).parse(await response.json()).id)
  }
  const until = Date.now() + 60_000
  for (const id of ids) {
    while ((await context.store.get(id))?.status !== 'idle') {
      if (Date.now() > until) throw new Error(`${id} was not ready in a minute`)
      await pause(100)
    }
  }
}

const report = (witness: Witness, { clouds }: LocalBerth, said: { failures: string[]; alarms: string[] }) => {
  const ledger = [...(clouds?.hotaisle.ledger() ?? []), ...(clouds?.oci.ledger() ?? [])]
  console.log(`\nRequests made: ${witness.requests()}. Machines rented: ${ledger.length}.`)
  console.table(Object.fromEntries([...witness.answers()].sort()))
  for (const alarm of new Set(said.alarms)) console.log(`Alarm: ${alarm}`)
  for (const failure of new Set(said.failures)) console.error(`Logged as an error: ${failure}`)
  for (const [wrong, times] of witness.wrongs()) console.error(`\nWrong (${times} times): ${wrong}`)
}

await main()
