import type { StockRow } from './state.ts'

const gib = 2 ** 30

const mi300x = (count: number) => [{ count, manufacturer: 'AMD', model: 'MI300X' }]

/** An object for VMs, an array for bare metal. */
const xeon = (model: string, count: number, cores: number) => ({
  count,
  manufacturer: 'Intel',
  model: `Xeon Platinum ${model}`,
  cores,
  frequency: 2_000_000_000,
})

const vm = (cores: number, cpu: string, gpuCount: number) => ({
  cpu_cores: cores,
  cpus: xeon(cpu, 1, cores),
  ram_capacity: gpuCount * 224 * gib,
  disk_capacity: 13_194_139_533_312,
  gpus: mi300x(gpuCount),
})

/** What was seen for rent live, with quantities that are the sandbox's own. */
export const defaultStock: StockRow[] = [
  { kind: 'vm', quantity: 4, pricePerHourCents: 199, minimumMinutes: 1, specs: vm(8, '8462Y+', 1) },
  { kind: 'vm', quantity: 4, pricePerHourCents: 199, minimumMinutes: 1, specs: vm(13, '8470', 1) },
  { kind: 'vm', quantity: 4, pricePerHourCents: 398, minimumMinutes: 60, specs: vm(26, '8470', 2) },
  {
    kind: 'bm',
    quantity: 2,
    pricePerHourCents: 2712,
    minimumMinutes: 480,
    specs: {
      cpu_cores: 104,
      cpus: [xeon('8470', 2, 52)],
      ram_capacity: 2048 * gib,
      memory_modules: [{ count: 32, manufacturer: 'Samsung', model: 'DDR5 64GB', capacity: 64 * gib }],
      disk_capacity: 123_839_994_396_672,
      disks: [
        {
          count: 8,
          manufacturer: 'Micron',
          model: '15.36TB Gen4 NVMe',
          type: 'NVMe',
          capacity: 15_359_999_475_712,
        },
        { count: 2, manufacturer: 'Micron', model: 'M.2 480GB', type: 'SATA SSD', capacity: 479_999_295_488 },
      ],
      gpus: mi300x(8),
    },
  },
]
