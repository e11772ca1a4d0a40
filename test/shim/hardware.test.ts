import { expect, test } from 'vitest'
import { parseHardware } from '../../lib/shim/hardware.ts'

const said = (sections: Record<string, [status: number, text: string]>) =>
  Object.entries(sections)
    .map(([name, [status, text]]) => `\n@@ begin ${name}\n${text}\n\n@@ end ${name} ${status}\n`)
    .join('')

const gpu = { asic: { market_name: 'MI300X' }, vram: { size: { value: 192, unit: 'GB' } } }
const amd = JSON.stringify({ gpu_data: [gpu, gpu] })

test('a machine is read from what its tools say', () => {
  const seen = parseHardware(
    said({
      arch: [0, 'aarch64'],
      cpus: [0, '72'],
      cores: [0, '# CORE,SOCKET\n0,0\n0,0\n1,0\n1,0\n0,1'],
      memory: [0, 'MemTotal:       1048576 kB\nMemFree: 12 kB'],
      disk: [0, 'Filesystem 1B-blocks Used Available Capacity Mounted on\n/dev/sda1 107374182400 1 2 1% /'],
      mounts: [0, '/dev/sda1 / ext4 rw 0 0\n/dev/nvme1n1p1 /mnt/nvme1n1p1 ext4 rw 0 0'],
      nvidia: [0, 'NVIDIA GH200 480GB, 97871, GPU-a, 560.1'],
    }),
  )
  expect(seen).toEqual({
    arch: 'arm',
    cpus: 72,
    cores: 3,
    memoryGb: 1,
    diskGb: 100,
    localDisks: ['/mnt/nvme1n1p1'],
    gpuVendor: 'nvidia',
    gpuName: 'GH200',
    gpuMemoryGb: 95.58,
    gpuCount: 1,
    driverVersion: '560.1',
  })
})

test('what could not be read is missing', () => {
  const seen = parseHardware(said({ arch: [127, 'uname: not found'], cpus: [0, 'many'], memory: [1, ''] }))
  expect(seen).toEqual({ gpuError: 'neither nvidia-smi nor amd-smi nor rocm-smi is there' })
})

test('an amd-smi that does not know --driver is asked again without it', () => {
  const seen = parseHardware(said({ amd: [2, 'unrecognized arguments: --driver'], 'amd-old': [0, amd] }))
  expect(seen).toMatchObject({ gpuVendor: 'amd', gpuName: 'MI300X', gpuCount: 2, gpuMemoryGb: 192 })
  expect(seen.gpuError).toBeUndefined()
})

test('rocm-smi answers where amd-smi cannot run', () => {
  const rocm = JSON.stringify({ card0: { 'Card Series': 'MI300X', 'VRAM Total Memory (B)': '206158430208' } })
  const seen = parseHardware(said({ amd: [127, ''], 'amd-old': [127, ''], rocm: [0, rocm] }))
  expect(seen).toMatchObject({ gpuVendor: 'amd', gpuName: 'MI300X', gpuCount: 1, gpuMemoryGb: 192 })
})

test('a failing tool is an error in its own words, not an absent GPU', () => {
  const words = 'Unable to determine the device handle for GPU0000:05:00.0: Unknown Error'
  const seen = parseHardware(said({ nvidia: [15, words] }))
  expect(seen.gpuCount).toBeUndefined()
  expect(seen.gpuError).toContain(words)
})

test('GPUs of two kinds keep both names', () => {
  const seen = parseHardware(said({ nvidia: [0, 'NVIDIA A10, 23028, a, 5\nNVIDIA L40S, 46068, b, 5'] }))
  expect(seen).toMatchObject({ gpuName: 'A10, L40S', gpuCount: 2, gpuMemoryGb: 22.49 })
})

test('one GPU whose memory is not said leaves the memory unread', () => {
  const seen = parseHardware(said({ nvidia: [0, 'NVIDIA A10, 23028, a, 5\nNVIDIA A10, [N/A], b, 5'] }))
  expect(seen.gpuMemoryGb).toBeUndefined()
  expect(seen.gpuCount).toBe(2)
})

test('a section that was cut off counts as not said', () => {
  expect(parseHardware('\n@@ begin cpus\n13\n').cpus).toBeUndefined()
})
