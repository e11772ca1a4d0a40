import { Worker } from 'node:worker_threads'
import type { Result } from './simulation.ts'

/**
 * Runs all seeds from `first` to `last` on so many threads, and hands on each result as it comes. Stops at once when
 * `isEnough` says so. Rejects when a run throws, which is a fault of the simulation or of Berth all the same.
 */
export const runSeeds = async (options: {
  first: number
  last: number
  threads: number
  defect?: string | undefined
  onResult: (result: Result) => void
  isEnough?: () => boolean
}): Promise<void> => {
  const { first, last, threads, defect } = options
  const workers = Array.from(
    { length: Math.min(threads, last - first + 1) },
    (_, index) =>
      new Worker(new URL('worker.ts', import.meta.url), {
        workerData: { first: first + index, last, of: threads },
        ...(defect !== undefined && {
          env: { ...process.env, BERTH_DEFECT: defect },
          execArgv: ['--import', new URL('break-on-purpose.ts', import.meta.url).href],
        }),
      }),
  )
  const stop = () => Promise.all(workers.map((worker) => worker.terminate()))
  try {
    await Promise.all(
      workers.map(
        (worker) =>
          new Promise<void>((resolve, reject) => {
            worker.once('error', reject)
            worker.once('exit', () => resolve())
            worker.on('message', (result: Result) => {
              options.onResult(result)
              if (options.isEnough?.()) void stop()
            })
          }),
      ),
    )
  } finally {
    await stop()
  }
}
