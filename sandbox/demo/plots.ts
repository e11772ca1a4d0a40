import type { BackendType } from '../../lib/model/offer.ts'

/** What the demo rents on a cloud, and how it ends there. */
export type Plot = {
  wanted: { gpu: string; instanceTypes: string[]; backends: BackendType[]; idleDuration: string }
  /** Counts the machine's GPUs as its renter would. */
  countGpus: string
  /** The machine is paid for some hours at once, and kept until they are over. */
  prepaid: boolean
}

export const plots: Record<BackendType, Plot> = {
  hotaisle: {
    wanted: {
      gpu: 'MI300X:192GB:8',
      instanceTypes: ['bm-mi300x-8'],
      backends: ['hotaisle'],
      idleDuration: '5m',
    },
    countGpus: 'amd-smi static --asic --json | grep -o market_name | wc -l',
    prepaid: true,
  },
  oci: {
    wanted: { gpu: 'H100:80GB:8', instanceTypes: ['BM.GPU.H100.8'], backends: ['oci'], idleDuration: '5m' },
    countGpus:
      'nvidia-smi --query-gpu=name,memory.total,uuid,driver_version --format=csv,noheader,nounits | wc -l',
    prepaid: false,
  },
}
