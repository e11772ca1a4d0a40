import type { MachineHardware } from '../../machines/machine-host.ts'

type Gpu = { name: string; memoryMib: number; generation: 'older' | 'turing_or_newer' }

/** A shape as Oracle documents it, with what a machine of it costs an hour in US dollars. */
export type SimulatedShape = {
  ocpus: number
  threadsPerOcpu: 1 | 2
  arch: MachineHardware['arch']
  memoryGb: number
  gpus: { gpu: Gpu; count: number } | null
  dollarsPerHour: number
  /** Whether it may be rented preemptible, at half the price. */
  preemptible: boolean
}

const gpu = (name: string, memoryMib: number, generation: Gpu['generation'] = 'turing_or_newer'): Gpu => ({
  name,
  memoryMib,
  generation,
})

/** As `nvidia-smi` prints them. */
const p100 = gpu('Tesla P100-SXM2-16GB', 16_280, 'older')
const v100 = gpu('Tesla V100-SXM2-16GB', 16_384, 'older')
const a10 = gpu('NVIDIA A10', 23_028)
const a100 = gpu('NVIDIA A100-SXM4-40GB', 40_960)
const a100of80 = gpu('NVIDIA A100-SXM4-80GB', 81_920)
const l40s = gpu('NVIDIA L40S', 46_068)
const h100 = gpu('NVIDIA H100 80GB HBM3', 81_559)
const h200 = gpu('NVIDIA H200', 143_771)
const b200 = gpu('NVIDIA B200', 183_359)
const b300 = gpu('NVIDIA B300 SXM6 AC', 275_040)
const rtxPro = gpu('NVIDIA RTX PRO 6000 Blackwell Server Edition', 97_887)
const gb200 = gpu('NVIDIA GB200', 189_471)
const mi300x = gpu('AMD Instinct MI300X', 196_592)

const onX86 = (
  ocpus: number,
  memoryGb: number,
  dollarsPerHour: number,
  gpus: SimulatedShape['gpus'] = null,
  preemptible = false,
): SimulatedShape => ({
  ocpus,
  threadsPerOcpu: 2,
  arch: 'x86_64',
  memoryGb,
  gpus,
  dollarsPerHour,
  preemptible,
})

/** Sources: Oracle's documentation of compute shapes, and its price list: for GPUs by the GPU, else by the OCPU. */
export const shapes: Record<string, SimulatedShape> = {
  'VM.Standard2.1': onX86(1, 15, 0.0638, null, true),
  'VM.Standard2.2': onX86(2, 30, 0.1276, null, true),
  'VM.Standard2.4': onX86(4, 60, 0.2552, null, true),
  'VM.Standard2.8': onX86(8, 120, 0.5104, null, true),
  'VM.Standard2.16': onX86(16, 240, 1.0208, null, true),
  'VM.Standard2.24': onX86(24, 320, 1.5312, null, true),
  'VM.Standard.E4.Flex': onX86(1, 16, 0.049, null, true),
  'BM.Standard2.52': onX86(52, 768, 3.3176),
  'BM.Standard3.64': onX86(64, 1024, 4.096),
  'BM.Standard.E3.128': onX86(128, 2048, 6.272),
  'BM.Standard.E4.128': onX86(128, 2048, 6.272),
  'BM.Standard.E5.192': onX86(192, 2304, 10.368),
  'BM.Optimized3.36': onX86(36, 512, 2.712),
  'BM.DenseIO.E5.128': onX86(128, 1536, 11.9),
  'VM.GPU2.1': onX86(12, 72, 1.275, { gpu: p100, count: 1 }, true),
  'VM.GPU3.1': onX86(6, 90, 2.95, { gpu: v100, count: 1 }, true),
  'VM.GPU3.2': onX86(12, 180, 5.9, { gpu: v100, count: 2 }, true),
  'VM.GPU3.4': onX86(24, 360, 11.8, { gpu: v100, count: 4 }, true),
  'BM.GPU3.8': onX86(52, 768, 23.6, { gpu: v100, count: 8 }),
  'VM.GPU.A10.1': onX86(15, 240, 2, { gpu: a10, count: 1 }, true),
  'VM.GPU.A10.2': onX86(30, 480, 4, { gpu: a10, count: 2 }, true),
  'BM.GPU.A10.4': onX86(64, 1024, 8, { gpu: a10, count: 4 }),
  'BM.GPU4.8': onX86(64, 2048, 24.4, { gpu: a100, count: 8 }),
  'BM.GPU.B4.8': onX86(128, 2048, 24.4, { gpu: a100, count: 8 }),
  'BM.GPU.A100-v2.8': onX86(128, 2048, 32, { gpu: a100of80, count: 8 }),
  'BM.GPU.L40S.4': onX86(112, 1024, 14, { gpu: l40s, count: 4 }),
  'BM.GPU.H100.8': onX86(112, 2048, 80, { gpu: h100, count: 8 }),
  'BM.GPU.H200.8': onX86(112, 3072, 80, { gpu: h200, count: 8 }),
  'BM.GPU.B200.8': onX86(128, 4096, 112, { gpu: b200, count: 8 }),
  'BM.GPU.B300.8': onX86(144, 4096, 120, { gpu: b300, count: 8 }),
  'BM.GPU.RTXPRO.8': onX86(144, 3072, 36, { gpu: rtxPro, count: 8 }),
  'BM.GPU.MI300X.8': onX86(112, 2048, 48, { gpu: mi300x, count: 8 }),
  'BM.GPU.GB200.4': {
    ...onX86(144, 960, 64, { gpu: gb200, count: 4 }),
    threadsPerOcpu: 1,
    arch: 'aarch64',
  },
}

export const isBareMetal = (shape: string): boolean => shape.startsWith('BM.')

/** One row of `listShapes`. */
export const shapeBody = (name: string, shape: SimulatedShape) => ({
  shape: name,
  processorDescription: 'a processor of the sandbox',
  ocpus: shape.ocpus,
  memoryInGBs: shape.memoryGb,
  networkingBandwidthInGbps: isBareMetal(name) ? 100 : 24,
  maxVnicAttachments: 24,
  gpus: shape.gpus?.count ?? 0,
  gpuDescription: shape.gpus ? `${shape.gpus.count} x ${shape.gpus.gpu.name}` : null,
  localDisks: 0,
  localDiskDescription: null,
  isFlexible: name.endsWith('.Flex'),
  billingType: 'PAID',
})
