import { availableParallelism } from 'node:os'
import * as z from 'zod'
import { readFlags } from '../../sandbox/local/flags.ts'
import { defects } from './defects.ts'
import { faultPoints } from './faults.ts'
import { runSeeds } from './run-seeds.ts'
import { type Result, simulate } from './simulation.ts'

const usage = `npm run simulate -- [options]

Runs the real lifecycle against both simulated clouds in simulated time, with faults of every kind, and checks Berth's
promises by the clouds' books. The same seed does the same.

  --seeds N        how many seeds to run (default 200)
  --from N         the first of them (default 1)
  --seed N         run this one alone and print its history
  --threads N      how many at once (default: one for each processor)
  --defect NAME    with this defect on purpose; ends with 0 when it is found
                   (${Object.keys(defects).join(', ')})
`

const count = z.coerce.number().int().min(0)
const flags = {
  seeds: count.default(200),
  from: count.default(1),
  seed: count.optional(),
  threads: count.min(1).default(availableParallelism()),
  defect: z.enum(Object.keys(defects)).optional(),
}
type Flags = z.infer<z.ZodObject<typeof flags>>

/** One run, with its history. */
const runOne = async (seed: number): Promise<boolean> => {
  const result = await simulate(seed, (line) => process.stdout.write(`${line}\n`))
  console.log(sayResult(result))
  return result.violations.length === 0
}

const runMany = async ({ seeds, from, threads, defect }: Flags): Promise<boolean> => {
  const results: Result[] = []
  const broken: Result[] = []
  const startedAt = Date.now()
  await runSeeds({
    first: from,
    last: from + seeds - 1,
    threads,
    defect,
    onResult: (result) => {
      results.push(result)
      if (result.violations.length > 0) broken.push(result)
      if (results.length % Math.max(100, Math.ceil(seeds / 20)) === 0)
        console.log(`${results.length} of ${seeds} seeds, ${broken.length} broke a promise`)
    },
    isEnough: () => defect !== undefined && broken.length > 0,
  })
  const seconds = Math.round((Date.now() - startedAt) / 1000)
  if (defect !== undefined) return sayDefect(defect, results.length, broken)
  const never = faultPoints.filter((point) => !results.some(({ hits }) => hits.has(point)))
  sayFaults(results)
  const sum = (of: (result: Result) => number) => results.reduce((all, result) => all + of(result), 0)
  console.log(
    `\n${results.length} seeds in ${seconds} s: ${sum(({ requests }) => requests)} requests, ` +
      `${sum(({ machines }) => machines)} machines, ${broken.length} seeds with a broken promise`,
  )
  for (const result of broken.slice(0, 10)) console.log(sayResult(result))
  if (never.length > 0 && seeds >= 200) console.log(`Never struck: ${never.join('; ')}`)
  return broken.length === 0 && (never.length === 0 || seeds < 200)
}

const sayFaults = (results: Result[]) => {
  console.log('How often each fault struck:')
  for (const point of faultPoints) {
    const times = results.reduce((all, { hits }) => all + (hits.get(point) ?? 0), 0)
    console.log(`  ${String(times).padStart(7)}  ${point}`)
  }
}

const sayDefect = (defect: string, seeds: number, broken: Result[]): boolean => {
  const [first] = broken
  console.log(
    first
      ? `${defect}: found after ${seeds} seeds. ${sayResult(first)}`
      : `${defect}: NOT FOUND in ${seeds} seeds`,
  )
  return first !== undefined
}

const sayResult = ({ seed, violations }: Result): string =>
  violations.length === 0
    ? `seed ${seed}: every promise kept`
    : `seed ${seed} broke a promise (npm run simulate -- --seed ${seed} shows how):\n${violations.map((each) => `    ${each}`).join('\n')}`

const given = readFlags(flags, usage)
const well = await (given.seed === undefined ? runMany(given) : runOne(given.seed))
process.exit(well ? 0 : 1)
