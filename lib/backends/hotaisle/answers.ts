import * as z from 'zod'

/** Schemas of what Hot Aisle answers: tolerant, since the live API and its contract differ in places. */

export const noBody = z.unknown()

/** An empty list can come as `null`. Rows are judged one by one. */
export const list = z
  .array(z.unknown())
  .nullable()
  .transform((rows) => rows ?? [])

const gpus = z
  .array(
    z.object({
      count: z.int().nonnegative(),
      manufacturer: z.string().nullish(),
      model: z.string().nullish(),
    }),
  )
  .nullish()

const text = z
  .string()
  .nullish()
  .transform((value) => value?.trim() ?? '')

/** What names a rental; live, though the contract doesn't list it. */
const deploymentId = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((value) => (value === null || value === undefined || value === '' ? undefined : String(value)))

/** A VM or a bare metal server, as a list, a GET or a create shows it. */
export const machine = z
  .object({
    name: z.string().min(1),
    deployment_id: deploymentId,
    description: text.catch(''),
    ip_address: text.catch(''),
    ssh_access: z
      .object({ ip_address: z.string().min(1), port: z.int().positive() })
      .nullish()
      .catch(null),
    os_status: z.object({ os_install_status: z.string() }).nullish().catch(null),
    cpu_cores: z.int().optional().catch(undefined),
    ram_capacity: z.int().optional().catch(undefined),
    disk_capacity: z.int().optional().catch(undefined),
    gpus: gpus.catch(null),
  })
  .transform((seen) => ({
    name: seen.name,
    deploymentId: seen.deployment_id,
    description: seen.description,
    ipAddress: seen.ip_address,
    sshAccess: seen.ssh_access ?? undefined,
    installStatus: seen.os_status?.os_install_status,
    cpuCores: seen.cpu_cores,
    ramBytes: seen.ram_capacity,
    diskBytes: seen.disk_capacity,
    gpuCount: seen.gpus?.reduce((sum, { count }) => sum + count, 0),
  }))
export type SeenMachine = z.infer<typeof machine>

export const vmState = z.object({ state: z.string() })

export const user = z.object({
  teams: z
    .array(
      z.object({
        handle: z.string(),
        effective_roles: z.array(z.string()).nullish(),
        invitation: z.boolean().nullish(),
      }),
    )
    .nullish(),
})

export const sshKeys = z
  .array(z.object({ public_key: z.string() }))
  .nullable()
  .transform((keys) => keys ?? [])

export const balance = z.object({
  virtual_machine_count: z.int(),
  bare_metal_server_count: z.int(),
  /** US cents, of everything that is charged. */
  hourly_rate: z.int().nonnegative().optional().catch(undefined),
})

/** One row of what can be rented. `Specs` is kept as it came: a VM must be asked for with exactly that. */
export const offerRow = z.object({
  Quantity: z.int().nonnegative(),
  /** US cents per hour for the whole machine. A row may lack it. */
  OnDemandPrice: z.int().nonnegative().max(10_000_000).nullish(),
  MinimumReservationMinutes: z.int().nonnegative().max(525_600),
  Specs: z.record(z.string(), z.json()),
})

/** The parts of `Specs` that an offer says something about, in bytes, within what a machine can be. */
export const specs = z.object({
  cpu_cores: z.int().min(1).max(4096),
  ram_capacity: z
    .int()
    .min(2 ** 30)
    .max(2 ** 47),
  disk_capacity: z
    .int()
    .min(2 ** 30)
    .max(2 ** 52),
  gpus,
  disks: z
    .array(
      z.object({
        model: z.string().nullish(),
        count: z.int().min(1).max(64),
        capacity: z
          .int()
          .min(2 ** 30)
          .max(2 ** 52),
      }),
    )
    .nullish(),
})
export type Specs = z.infer<typeof specs>
