import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseMemory } from '../../lib/model/range.ts'
import { fits, formatRequirements, parseCpu, parseGpu } from '../../lib/model/requirements.ts'
import type { Resources } from '../../lib/model/resources.ts'

const mi300x: Resources = {
  cpu: { arch: 'x86', count: 104 },
  memoryGb: 2048,
  diskGb: 447,
  localDisks: [],
  gpu: { vendor: 'amd', name: 'MI300X', memoryGb: 192, count: 8 },
  spot: false,
}

describe('a GPU requirement reads as dstack writes it', () => {
  test.each([
    ['MI300X:192GB:8', { names: ['MI300X'], memoryGb: { min: 192, max: 192 }, count: { min: 8, max: 8 } }],
    ['nvidia', { vendor: 'nvidia', count: { min: 1 } }],
    ['AMD', { vendor: 'amd', count: { min: 1 } }],
    ['amd:1..4', { vendor: 'amd', count: { min: 1, max: 4 } }],
    ['A100,H100:80GB..:2..', { names: ['A100', 'H100'], memoryGb: { min: 80 }, count: { min: 2 } }],
    ['nvidia:H100', { vendor: 'nvidia', names: ['H100'], count: { min: 1 } }],
    ['80GB..', { memoryGb: { min: 80 }, count: { min: 1 } }],
    ['..24GB', { memoryGb: { max: 24 }, count: { min: 1 } }],
    ['24GB..80GB', { memoryGb: { min: 24, max: 80 }, count: { min: 1 } }],
    ['8', { count: { min: 8, max: 8 } }],
    ['H100:1..4', { names: ['H100'], count: { min: 1, max: 4 } }],
    ['MI300X:0..2', { names: ['MI300X'], count: { min: 0, max: 2 } }],
  ])('%s', (text, expected) => {
    expect(parseGpu(text)).toEqual(expected)
  })

  test.each([
    ['MI300X:0', 'at least 1'],
    ['MI300X:', 'empty part'],
    ['', 'empty part'],
    ['MI300X:8:4', 'count is given twice'],
    ['amd:nvidia', 'vendor is given twice'],
    ['H100:4..1', 'runs backwards'],
    ['H100:80GB:40GB', 'memory is given twice'],
    ['H 100', 'is not a GPU name'],
    ['H100:-1', 'is not a GPU name'],
    ['H100:1.5', 'is not a GPU name'],
    ['H100:80XB', 'is not a GPU name'],
  ])('%j is refused and the message says why', (text, why) => {
    expect(() => parseGpu(text)).toThrow(why)
  })
})

test('whatever text comes, a parser returns or throws an Error with words', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      for (const parse of [parseGpu, parseCpu, parseMemory]) {
        try {
          expect(parse(text)).toBeTypeOf('object')
        } catch (error) {
          expect(error).toBeInstanceOf(Error)
          expect(String(error).length).toBeGreaterThan(10)
        }
      }
    }),
  )
})

describe('a CPU requirement', () => {
  test.each([
    ['8', { count: { min: 8, max: 8 } }],
    ['x86:8..', { arch: 'x86', count: { min: 8 } }],
    ['arm', { arch: 'arm' }],
    ['8..16', { count: { min: 8, max: 16 } }],
  ])('%s', (text, expected) => {
    expect(parseCpu(text)).toEqual(expected)
  })

  test.each(['x86:arm', 'x64', '8:9', ''])('%j is refused', (text) => {
    expect(() => parseCpu(text)).toThrow()
  })
})

describe('a memory requirement counts in GB of 2^30', () => {
  test.each([
    ['64GB..', { min: 64 }],
    ['1TB', { min: 1024, max: 1024 }],
    ['512MB', { min: 0.5, max: 0.5 }],
    ['100', { min: 100, max: 100 }],
    ['..2TB', { max: 2048 }],
  ])('%s', (text, expected) => {
    expect(parseMemory(text)).toEqual(expected)
  })
  test.each(['..', '', 'lots', '1..2..3', '8gb..4gb'])('%j is refused', (text) => {
    expect(() => parseMemory(text)).toThrow()
  })
})

describe('a machine fits when it has what is asked for', () => {
  test.each([
    ['MI300X:192GB:8', true],
    ['mi300x', true],
    ['amd:8', true],
    ['amd:1..4', false],
    ['nvidia', false],
    ['MI300', false],
    ['80GB..:8', true],
    ['256GB..', false],
  ])('gpu=%s: %s', (text, expected) => {
    expect(fits({ gpu: parseGpu(text) }, mi300x)).toBe(expected)
  })

  test('A10 is not A100', () => {
    const a100 = { ...mi300x, gpu: { vendor: 'nvidia' as const, name: 'A100', memoryGb: 40, count: 8 } }
    expect(fits({ gpu: parseGpu('A10') }, a100)).toBe(false)
  })

  test('without a GPU requirement a machine without GPUs fits, with one it does not', () => {
    const plain = { ...mi300x, gpu: null }
    expect(fits({}, plain)).toBe(true)
    expect(fits({ gpu: parseGpu('1..') }, plain)).toBe(false)
  })

  test.each([
    [{ cpu: parseCpu('x86:104') }, true],
    [{ cpu: parseCpu('arm') }, false],
    [{ cpu: parseCpu('105..') }, false],
    [{ memoryGb: parseMemory('2TB') }, true],
    [{ memoryGb: parseMemory('..1TB') }, false],
    [{ diskGb: parseMemory('500GB..') }, false],
  ])('%j: %s', (wanted, expected) => {
    expect(fits(wanted, mi300x)).toBe(expected)
  })
})

test('requirements are written back the way a person writes them', () => {
  const wanted = {
    gpu: parseGpu('amd:MI300X:192GB:8'),
    cpu: parseCpu('x86:8..'),
    memoryGb: parseMemory('64GB..'),
  }
  expect(formatRequirements(wanted)).toBe('gpu=amd:MI300X:192GB:8 cpu=x86:8.. memory=64GB..')
  expect(formatRequirements({})).toBe('anything')
})
