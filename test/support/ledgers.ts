import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'

/** One rental as its simulated cloud has written it down. Times in milliseconds. */
export type LedgerRow = {
  cloudId: string
  /** `berth:<owner>:<instance>:<attempt>`; empty where none was ever set. */
  mark: string
  startedAt: number
  endedAt: number | null
  minimumMinutes: number
}

const hotaisle = z.object({
  rentals: z.array(
    z.object({
      deploymentId: z.string(),
      description: z.string(),
      startedAt: z.number(),
      endedAt: z.number().nullable(),
      minimumMinutes: z.number(),
    }),
  ),
})
const oci = z.object({
  instances: z.array(
    z.object({
      id: z.string(),
      freeformTags: z.object({ berth: z.string().optional() }),
      createdAt: z.number(),
      endedAt: z.number().nullable(),
    }),
  ),
})

/** The bills of both simulated clouds, by the files in which they keep their state. */
export const readLedgers = (folder: string): LedgerRow[] => {
  const read = (cloud: string): unknown => JSON.parse(readFileSync(join(folder, `${cloud}.json`), 'utf8'))
  return [
    ...hotaisle.parse(read('hotaisle')).rentals.map(({ deploymentId, description, ...row }) => ({
      ...row,
      cloudId: deploymentId,
      mark: description,
    })),
    ...oci.parse(read('oci')).instances.map(({ id, freeformTags, createdAt, endedAt }) => ({
      cloudId: id,
      mark: freeformTags.berth ?? '',
      startedAt: createdAt,
      endedAt,
      minimumMinutes: 0,
    })),
  ]
}
