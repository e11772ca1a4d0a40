import { expect, test } from 'vitest'
import { normaliseGpuName } from '../../lib/shim/gpu-name.ts'

test.each([
  ['AMD Instinct MI300X', 'MI300X'],
  ['MI300X', 'MI300X'],
  ['AMD Instinct MI300X VF', 'MI300X'],
  ['AMD Instinct MI300X OAM', 'MI300X'],
  ['NVIDIA A10', 'A10'],
  ['NVIDIA A100-SXM4-40GB', 'A100'],
  ['NVIDIA A100-SXM4-80GB', 'A100'],
  ['NVIDIA A100 80GB PCIe', 'A100'],
  ['NVIDIA H100 80GB HBM3', 'H100'],
  ['NVIDIA H200', 'H200'],
  ['NVIDIA L40S', 'L40S'],
  ['Tesla V100-SXM2-16GB', 'V100'],
  ['NVIDIA GH100', 'GH100'],
  ['NVIDIA GH200 480GB', 'GH200'],
  ['NVIDIA GB200', 'GB200'],
])('%s is sold as %s', (printed, name) => {
  expect(normaliseGpuName(printed)).toBe(name)
})

test.each(['N/A', '[N/A]', '[Not Supported]', '[Unknown Error]', '', 'NVIDIA'])(
  '"%s" names no GPU',
  (printed) => {
    expect(normaliseGpuName(printed)).toBeUndefined()
  },
)
