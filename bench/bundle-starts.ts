import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { bundleFunctions, functionFiles } from '../infra/bundle.ts'
import { eventsFor } from './bundle-events.ts'
import { startBundleStage } from './bundle-stage.ts'
import { runBundle } from './run-bundle.ts'

const tries = 10
const empty = 'empty-handler'
/** The functions that call OCI at every event. */
const callers = ['offers', 'provision']

export type BundleStart = { name: string; oci: boolean; kb: number; medianMs: number; ratio: number }

/**
 * Size of each function's bundle in kB, and the time from the start of its process to its first answer, in ms and as a
 * ratio to a function that does nothing. One after another in turn, so that noise hits all alike.
 */
export const bundleStarts = async (): Promise<BundleStart[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-bundles-'))
  const stage = await startBundleStage()
  try {
    const emptyFile = join(import.meta.dirname, `${empty}.ts`)
    const bundles = [
      ...(await bundleFunctions(join(folder, 'empty'), [emptyFile])).functions,
      ...(await bundleFunctions(join(folder, 'functions'), functionFiles())).functions,
    ]
    const events = eventsFor(stage.store)
    const cases = bundles.flatMap((bundle) =>
      [false, true]
        .filter((oci) => !oci || callers.includes(bundle.name))
        .map((oci) => ({ ...bundle, oci, times: [] as number[] })),
    )
    for (let round = 0; round <= tries; round++) {
      for (const { name, file, oci, times } of cases) {
        const event = await events[name]?.()
        const { ms, answer } = await runBundle(file, event, oci ? stage.withOci : stage.withoutOci)
        mustBeGood(name, answer)
        // The first round is for the disk's cache.
        if (round > 0) times.push(ms)
      }
    }
    const base = median(cases.find(({ name }) => name === empty)?.times ?? [])
    return cases.map(({ name, oci, bytes, ociBytes, times }) => ({
      name,
      oci,
      kb: Math.round((bytes + (oci ? ociBytes : 0)) / 1000),
      medianMs: Math.round(median(times)),
      ratio: Math.round((median(times) / base) * 100) / 100,
    }))
  } finally {
    await stage.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const bad = z.union([
  z.object({ statusCode: z.number().min(400) }),
  z.object({ batchItemFailures: z.array(z.unknown()).min(1) }),
  z.object({ context: z.object({ name: z.literal('') }) }),
  // A cloud that could not be asked.
  z.object({ body: z.string().regex(/"errors":\[\{/) }),
])

const mustBeGood = (name: string, answer: unknown) => {
  if (bad.safeParse(answer).success) throw new Error(`${name} answered ${JSON.stringify(answer)}`)
}

const median = (times: number[]): number => {
  const sorted = [...times].sort((a, b) => a - b)
  const half = sorted.length / 2
  return ((sorted[Math.ceil(half) - 1] ?? 0) + (sorted[Math.floor(half)] ?? 0)) / 2
}
