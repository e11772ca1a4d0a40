import { expect, test } from 'vitest'
import * as z from 'zod'
import { catalogueShape } from '../../lib/backends/oci/catalogue.ts'
import { shippedCatalogue } from '../../lib/backends/oci/known-catalogue.ts'
import { normaliseGpuName } from '../../lib/shim/gpu-name.ts'
import { judgeHardware } from '../../lib/shim/hardware-verdict.ts'

const shapes = z.array(catalogueShape).parse(shippedCatalogue.rows)

/** What a machine shows: `nproc`, GiB of MemTotal, and the name and MiB that nvidia-smi prints. */
const judge = (shape: string, printed: string, mib: number, memoryGb?: number) => {
  const row = shapes.find((each) => each.shape === shape)
  if (!row?.gpu) throw new Error(`${shape} is not offered with GPUs`)
  const { cpu, gpu } = row
  return judgeHardware(
    {
      cpu,
      memoryGb: row.memoryGb,
      diskGb: 100,
      localDisks: [],
      gpu: { vendor: 'nvidia', ...gpu },
      spot: false,
    },
    {
      arch: 'x86',
      cpus: cpu.count,
      memoryGb: memoryGb ?? row.memoryGb * 0.97,
      diskGb: 97,
      gpuVendor: 'nvidia',
      gpuName: normaliseGpuName(printed),
      gpuMemoryGb: mib / 1024,
      gpuCount: gpu.count,
    },
  )
}

test.each<[string, string, number, number?]>([
  ['VM.GPU.A10.1', 'NVIDIA A10', 23_028, 235],
  ['BM.GPU.A10.4', 'NVIDIA A10', 23_028, 1007],
  ['BM.GPU4.8', 'NVIDIA A100-SXM4-40GB', 40_960],
  ['BM.GPU.A100-v2.8', 'NVIDIA A100-SXM4-80GB', 81_920],
  ['BM.GPU.H100.8', 'NVIDIA H100 80GB HBM3', 81_559],
  ['BM.GPU.H200.8', 'NVIDIA H200', 143_771],
  ['BM.GPU.L40S.4', 'NVIDIA L40S', 46_068],
  ['VM.GPU3.1', 'Tesla V100-SXM2-16GB', 16_384],
  ['VM.GPU3.1', 'Tesla V100-SXM2-16GB', 16_160],
])('%s that shows %s with %i MiB is what is offered', (...seen) => {
  expect(judge(...seen)).toMatchObject({ verdict: 'match', differences: [] })
})

test.each<[string, string, number]>([
  ['VM.GPU.A10.1', 'NVIDIA A100-SXM4-40GB', 40_960],
  ['BM.GPU.A100-v2.8', 'NVIDIA A100-SXM4-40GB', 40_960],
  ['BM.GPU.H200.8', 'NVIDIA H100 80GB HBM3', 81_559],
  ['BM.GPU.H100.8', 'NVIDIA GH100', 81_559],
])('%s that shows %s is not', (...seen) => {
  expect(judge(...seen).verdict).toBe('mismatch')
})
