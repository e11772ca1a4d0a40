import { parentPort, workerData } from 'node:worker_threads'
import * as z from 'zod'
import { simulate } from './simulation.ts'

/** Runs every `of`-th seed from `first` to `last`, one after the other. */
const { first, last, of } = z.object({ first: z.int(), last: z.int(), of: z.int() }).parse(workerData)
for (let seed = first; seed <= last; seed += of) parentPort?.postMessage(await simulate(seed))
