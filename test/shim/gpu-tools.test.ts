import { describe, expect, test } from 'vitest'
import {
  parseAmdSmi,
  parseAmdUse,
  parseNvidiaSmi,
  parseNvidiaUse,
  parseRocmSmi,
} from '../../lib/shim/gpu-tools.ts'

const amdRow = (parts: object = {}) => ({
  gpu: 0,
  asic: { market_name: 'AMD Instinct MI300X', vendor_id: '0x1002' },
  vram: { type: 'HBM3', size: { value: 196592, unit: 'MB' } },
  bus: { bdf: '0000:05:00.0' },
  driver: { name: 'amdgpu', version: '6.10.5' },
  ...parts,
})
const mi300x = { name: 'MI300X', memoryGb: 191.98, driverVersion: '6.10.5' }

describe('nvidia-smi', () => {
  test('says one GPU a line', () => {
    const text = 'NVIDIA A10, 23028, GPU-a, 550.54\nNVIDIA A10, 23028, GPU-b, 550.54\n'
    const a10 = { name: 'A10', memoryGb: 22.49, driverVersion: '550.54' }
    expect(parseNvidiaSmi(text)).toEqual([a10, a10])
  })

  test.each(['N/A', '[N/A]', '[Not Supported]'])('leaves out what is %s', (placeholder) => {
    expect(parseNvidiaSmi(`NVIDIA H200, ${placeholder}, GPU-a, ${placeholder}`)).toEqual([
      { name: 'H200', memoryGb: undefined, driverVersion: undefined },
    ])
  })

  test.each(['No devices were found', 'Unable to determine the device handle for GPU0: Unknown Error', ''])(
    'has no GPU in "%s"',
    (text) => expect(parseNvidiaSmi(text)).toBeUndefined(),
  )

  test('says how busy the busiest GPU is', () => {
    expect(parseNvidiaUse('0\n97\n3\n')).toBe(97)
    expect(parseNvidiaUse('[N/A]\n4 %\n')).toBe(4)
    expect(parseNvidiaUse('[Not Supported]')).toBeUndefined()
  })
})

describe('amd-smi', () => {
  test.each([
    ['a list, as ROCm 6 writes', JSON.stringify([amdRow()])],
    ['a list in gpu_data, as ROCm 7 writes', JSON.stringify({ gpu_data: [amdRow()] })],
    [
      'with a warning before it',
      `WARNING: [root] is missing the group "render"\n${JSON.stringify([amdRow()])}`,
    ],
    ['with a warning after it', `${JSON.stringify({ gpu_data: [amdRow()] })}\nsome driver is old`],
    ['the plain name', JSON.stringify([amdRow({ asic: { market_name: 'MI300X' } })])],
    ['the name in a VM', JSON.stringify([amdRow({ asic: { market_name: 'AMD Instinct MI300X VF' } })])],
    ['an upper-case driver key', JSON.stringify([amdRow({ driver: { NAME: 'amdgpu', VERSION: '6.10.5' } })])],
    ['the key driver_version', JSON.stringify([amdRow({ driver: { driver_version: '6.10.5' } })])],
    ['bytes', JSON.stringify([amdRow({ vram: { size: { value: 196592 * 2 ** 20, unit: 'B' } } })])],
    ['a size in one text', JSON.stringify([amdRow({ vram: { size: '196592 MB' } })])],
  ])('is read: %s', (_, text) => {
    expect(parseAmdSmi(text)).toEqual([mi300x])
  })

  test('gigabytes are of 2^30, as all else', () => {
    const text = JSON.stringify([amdRow({ vram: { size: { value: 192, unit: 'GB' } } })])
    expect(parseAmdSmi(text)?.[0]?.memoryGb).toBe(192)
  })

  test('without --driver there is no driver, but the rest', () => {
    expect(parseAmdSmi(JSON.stringify([amdRow({ driver: undefined })]))).toEqual([
      { ...mi300x, driverVersion: undefined },
    ])
  })

  test('placeholders are no values', () => {
    const row = amdRow({ asic: { market_name: 'N/A' }, vram: { size: 'N/A' }, driver: { version: 'N/A' } })
    expect(parseAmdSmi(JSON.stringify([row]))).toEqual([
      { name: undefined, memoryGb: undefined, driverVersion: undefined },
    ])
  })

  test.each([
    '[]',
    '{"gpu_data": []}',
    'amd-smi: error: unrecognized arguments: --driver',
    '{"other": 1}',
    '[1]',
  ])('has no GPU in %s', (text) => expect(parseAmdSmi(text)).toBeUndefined())

  test.each([
    ['ROCm 6', [{ gpu: 0, usage: { gfx_activity: { value: 3, unit: '%' } } }], 3],
    [
      'ROCm 7',
      { gpu_data: [{ usage: { gfx_activity: { value: 3 } } }, { usage: { gfx_activity: { value: 88 } } }] },
      88,
    ],
    [
      'one VM that says nothing',
      [{ usage: { gfx_activity: 'N/A' } }, { usage: { gfx_activity: { value: 0 } } }],
      0,
    ],
    ['N/A', { gpu_data: [{ usage: { gfx_activity: { value: 'N/A', unit: '%' } } }] }, undefined],
    ['no usage at all', [{ gpu: 0, usage: 'N/A' }], undefined],
  ])('says how busy the busiest GPU is: %s', (_, json, percent) => {
    expect(parseAmdUse(JSON.stringify(json))).toBe(percent)
  })
})

describe('rocm-smi', () => {
  test.each(['Card Series', 'Card series', 'Card Model'])('is read by "%s"', (key) => {
    const card = { [key]: 'AMD Instinct MI300X', 'VRAM Total Memory (B)': String(196592 * 2 ** 20) }
    const text = JSON.stringify({ card0: card, card1: card, system: { 'Driver version': '6.10.5' } })
    expect(parseRocmSmi(text)).toEqual([mi300x, mi300x])
  })

  test('a device number is no name', () => {
    const text = JSON.stringify({ card0: { 'Card Series': 'N/A', 'Card Model': '0x74a1' } })
    expect(parseRocmSmi(text)).toEqual([{ name: undefined, memoryGb: undefined, driverVersion: undefined }])
  })

  test.each(['', '{}', 'ERROR: no AMD GPUs', '{"system": {"Driver version": "6"}}'])(
    'has no GPU in "%s"',
    (text) => expect(parseRocmSmi(text)).toBeUndefined(),
  )
})
