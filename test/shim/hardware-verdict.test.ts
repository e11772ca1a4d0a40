import { describe, expect, test } from 'vitest'
import type { ObservedHardware } from '../../lib/model/hardware.ts'
import type { Resources } from '../../lib/model/resources.ts'
import { judgeHardware } from '../../lib/shim/hardware-verdict.ts'

const advertised: Resources = {
  cpu: { arch: 'x86', count: 104 },
  memoryGb: 2048,
  diskGb: 447,
  localDisks: [
    { mountPath: '/mnt/nvme0n1p1', sizeGb: 14305 },
    { mountPath: '/mnt/nvme1n1p1', sizeGb: 14305 },
  ],
  gpu: { vendor: 'amd', name: 'MI300X', memoryGb: 192, count: 8 },
  spot: false,
}
const good: ObservedHardware = {
  arch: 'x86',
  cpus: 104,
  memoryGb: 2010,
  diskGb: 438,
  localDisks: ['/mnt/nvme0n1p1', '/mnt/nvme1n1p1'],
  gpuVendor: 'amd',
  gpuName: 'MI300X',
  gpuMemoryGb: 191.98,
  gpuCount: 8,
}

test('a machine that is what was advertised matches', () => {
  expect(judgeHardware(advertised, good)).toEqual({ verdict: 'match', observed: good, differences: [] })
})

describe('each difference is named', () => {
  test.each<[Partial<ObservedHardware>, string]>([
    [{ arch: 'arm' }, 'the architecture is arm where x86 is advertised'],
    [{ cpus: 96 }, '96 CPUs where 104 are advertised'],
    [{ cpus: 1 }, '1 CPU where 104 are advertised'],
    [{ memoryGb: 1884 }, 'the memory is 1884 GB where 2048 GB is advertised'],
    [{ diskGb: 411 }, 'the root filesystem is 411 GB where 447 GB is advertised'],
    [{ localDisks: ['/mnt/nvme0n1p1'] }, 'nothing is mounted at /mnt/nvme1n1p1 where 14305 GB is advertised'],
    [{ gpuCount: 7 }, '7 GPUs where 8 are advertised'],
    [{ gpuVendor: 'nvidia' }, 'the GPU vendor is nvidia where amd is advertised'],
    [{ gpuName: 'MI300' }, 'the GPU is MI300 where MI300X is advertised'],
    [{ gpuName: undefined }, 'the GPU name could not be read where MI300X is advertised'],
    [{ gpuMemoryGb: 176 }, 'the GPU memory is 176 GB where 192 GB is advertised'],
    [{ gpuMemoryGb: undefined }, 'the GPU memory could not be read where 192 GB is advertised'],
    [
      { gpuCount: undefined, gpuError: 'the AMD tool says: no' },
      'GPUs could not be read: the AMD tool says: no',
    ],
    [{ gpuCount: undefined }, 'GPUs could not be read: nothing was said of them'],
  ])('%o', (change, sentence) => {
    expect(judgeHardware(advertised, { ...good, ...change })).toMatchObject({
      verdict: 'mismatch',
      differences: [sentence],
    })
  })
})

test('several differences are all named', () => {
  expect(judgeHardware(advertised, { ...good, cpus: 8, gpuCount: 1 }).differences).toHaveLength(2)
})

test.each<Partial<ObservedHardware>>([
  { memoryGb: 1884.2 },
  { diskGb: 411.3 },
  { gpuMemoryGb: 176.7 },
  { localDisks: ['/mnt/nvme0n1p1', '/mnt/nvme1n1p1', '/mnt/more'] },
  { gpuName: 'mi300x' },
  { arch: undefined, cpus: undefined, memoryGb: undefined, diskGb: undefined, localDisks: undefined },
])('%o is no difference', (change) => {
  expect(judgeHardware(advertised, { ...good, ...change }).verdict).toBe('match')
})

test('without GPUs in the offer, no tool for them is needed, but none must be there', () => {
  const plain = { ...advertised, gpu: null }
  const none = {
    ...good,
    gpuVendor: undefined,
    gpuName: undefined,
    gpuMemoryGb: undefined,
    gpuCount: undefined,
  }
  expect(judgeHardware(plain, { ...none, gpuError: 'no tool' }).verdict).toBe('match')
  expect(judgeHardware(plain, good).differences).toEqual(['8 GPUs where none is advertised'])
})

test('a machine that is sold by its cores may show twice as many threads', () => {
  expect(judgeHardware(advertised, { ...good, cpus: 208, cores: 104 }).verdict).toBe('match')
  expect(judgeHardware(advertised, { ...good, cpus: 208, cores: 52 }).differences).toEqual([
    '208 CPUs where 104 are advertised',
  ])
})
