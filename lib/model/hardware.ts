import * as z from 'zod'
import { hardwareChecks } from './choices.ts'
import { architecture, gpuVendor } from './resources.ts'

/** What a machine says of itself, memory in GB of 2^30 bytes. A missing part could not be read. */
const observedHardware = z.object({
  arch: architecture.optional(),
  /** What `nproc` says: threads, where a core has several. */
  cpus: z.int().optional(),
  cores: z.int().optional(),
  memoryGb: z.number().optional(),
  /** Size of the root filesystem. */
  diskGb: z.number().optional(),
  localDisks: z.array(z.string()).optional(),
  gpuVendor: gpuVendor.optional(),
  gpuName: z.string().optional(),
  gpuMemoryGb: z.number().optional(),
  gpuCount: z.int().optional(),
  driverVersion: z.string().optional(),
  /** Why the GPUs could not be read, in the tool's words. */
  gpuError: z.string().optional(),
})
export type ObservedHardware = z.infer<typeof observedHardware>

export const hardwareCheck = z.enum(hardwareChecks)

export const hardwareVerdict = z.object({
  verdict: z.enum(['match', 'mismatch', 'skipped']),
  observed: observedHardware.nullable(),
  /** One sentence for each difference, naming what was advertised and what is there. */
  differences: z.array(z.string()),
})
export type HardwareVerdict = z.infer<typeof hardwareVerdict>
