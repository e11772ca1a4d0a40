import * as z from 'zod'

export const architecture = z.enum(['x86', 'arm'])
export const gpuVendor = z.enum(['nvidia', 'amd'])

/** A drive beside the boot disk, and where the provider's image mounts it. */
const localDisk = z.object({ mountPath: z.string(), sizeGb: z.number() })

/** What a machine has. Sizes in GB of 2^30 bytes, as dstack counts them. */
export const resources = z.object({
  cpu: z.object({ arch: architecture, count: z.int().positive() }),
  memoryGb: z.number().positive(),
  /** The boot disk alone. */
  diskGb: z.number().positive(),
  localDisks: z.array(localDisk),
  gpu: z
    .object({
      vendor: gpuVendor,
      name: z.string(),
      /** Of one GPU. */
      memoryGb: z.number().positive(),
      count: z.int().positive(),
    })
    .nullable(),
  spot: z.boolean(),
})
export type Resources = z.infer<typeof resources>
