import * as z from 'zod'
import type { MachineHardware } from '../../machines/machine-host.ts'
import type { StockRow } from './state.ts'

const known = z.object({
  cpu_cores: z.int(),
  ram_capacity: z.int(),
  disk_capacity: z.int(),
  gpus: z.array(z.object({ count: z.int() })).default([]),
})

/** What is really in a machine that is sold by such Specs. */
export const hardwareOf = (kind: 'vm' | 'bm', specs: StockRow['specs']): MachineHardware => {
  const sold = known.parse(specs)
  return {
    arch: 'x86_64',
    cpus: sold.cpu_cores,
    // Firmware and kernel keep some 3 % of what is advertised.
    memoryKib: Math.floor((sold.ram_capacity / 1024) * 0.97),
    // The root filesystem on a 480 GB drive shows 438 GiB.
    rootDiskBytes: kind === 'bm' ? 438 * 2 ** 30 : sold.disk_capacity,
    localDisks: kind === 'bm' ? [0, 1, 2, 3, 5, 6, 7, 8].map((drive) => `/mnt/nvme${drive}n1p1`) : [],
    gpus: {
      vendor: 'amd',
      name: kind === 'bm' ? 'AMD Instinct MI300X' : 'AMD Instinct MI300X VF',
      memoryMib: 196_592,
      count: sold.gpus.reduce((sum, { count }) => sum + count, 0),
      driverVersion: '6.10.5',
    },
  }
}
