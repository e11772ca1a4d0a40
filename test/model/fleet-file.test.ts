import { describe, expect, test } from 'vitest'
import { fleetFile } from '../../lib/model/fleet-file.ts'
import { fits } from '../../lib/model/requirements.ts'

const least = { type: 'fleet', nodes: 1 }
const read = (more: object) => fleetFile.parse({ ...least, ...more })
const refusals = (file: unknown): [string, string][] => {
  const { error } = fleetFile.safeParse(file)
  return (error?.issues ?? []).flatMap((issue): [string, string][] =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => [[...issue.path, key].join('.'), 'not known'])
      : [[issue.path.join('.'), issue.message]],
  )
}

test('a fleet of one bare metal server reads as it is meant', () => {
  const file = {
    type: 'fleet',
    name: 'amd',
    nodes: 1,
    backends: ['hotaisle'],
    regions: ['us-michigan-1'],
    instance_types: ['bm-mi300x-8'],
    resources: { gpu: 'MI300X:8' },
    spot_policy: 'auto',
    max_price: 30,
    idle_duration: '1h',
  }
  expect(fleetFile.parse(file)).toEqual({
    name: 'amd',
    spec: {
      nodes: { min: 1, target: 1, max: 1 },
      wanted: {
        requirements: {
          gpu: { names: ['MI300X'], count: { min: 8, max: 8 } },
          cpu: { count: { min: 2 } },
          memoryGb: { min: 8 },
          diskGb: { min: 100 },
        },
        backends: ['hotaisle'],
        regions: ['us-michigan-1'],
        instanceTypes: ['bm-mi300x-8'],
        spotPolicy: 'auto',
        maxPriceCents: 3000,
      },
      idleDuration: 3_600_000,
    },
  })
})

test('what is left out is as in dstack: on-demand machines of 2 CPUs, 8 GB and 100 GB, idle for three days', () => {
  expect(read({ name: undefined, regions: null })).toEqual({
    name: undefined,
    spec: {
      nodes: { min: 1, target: 1, max: 1 },
      wanted: {
        requirements: { cpu: { count: { min: 2 } }, memoryGb: { min: 8 }, diskGb: { min: 100 } },
        spotPolicy: 'on-demand',
      },
      idleDuration: 259_200_000,
    },
  })
})

test.each([
  [2, { min: 2, target: 2, max: 2 }],
  ['2', { min: 2, target: 2, max: 2 }],
  [0, { min: 0, target: 0, max: 0 }],
  ['1..4', { min: 1, target: 1, max: 4 }],
  ['1 .. 4', { min: 1, target: 1, max: 4 }],
  ['..4', { min: 0, target: 0, max: 4 }],
  ['2..', { min: 2, target: 2 }],
  [
    { min: 1, max: 3 },
    { min: 1, target: 1, max: 3 },
  ],
  [
    { min: 1, target: 2, max: 3 },
    { min: 1, target: 2, max: 3 },
  ],
  [{ min: 1 }, { min: 1, target: 1 }],
  [
    { min: 1, max: null },
    { min: 1, target: 1 },
  ],
  [{ target: 2 }, { min: 0, target: 2 }],
])('nodes: %j are %j', (nodes, expected) => {
  expect(read({ nodes }).spec.nodes).toEqual(expected)
})

test.each([
  ['off', 'off'],
  [false, 'off'],
  [-1, 'off'],
  ['-1', 'off'],
  [true, 259_200_000],
  [0, 0],
  ['0', 0],
  [90, 90_000],
  ['3d', 259_200_000],
])('idle_duration: %j is %j', (idle_duration, expected) => {
  expect(read({ idle_duration }).spec.idleDuration).toBe(expected)
})

const noDefaults = { cpu: { count: { min: 2 } }, memoryGb: { min: 8 }, diskGb: { min: 100 } }
test.each([
  [{ gpu: 8 }, { gpu: { count: { min: 8, max: 8 } } }],
  [{ gpu: { name: 'MI300X', count: 8 } }, { gpu: { names: ['MI300X'], count: { min: 8, max: 8 } } }],
  [
    { gpu: { vendor: 'AMD', name: ['MI300X', 'A10'], memory: '80GB..', count: '1..4' } },
    {
      gpu: { vendor: 'amd', names: ['MI300X', 'A10'], memoryGb: { min: 80 }, count: { min: 1, max: 4 } },
    },
  ],
  [
    { gpu: { memory: { min: 24, max: '80GB' } } },
    { gpu: { count: { min: 1 }, memoryGb: { min: 24, max: 80 } } },
  ],
  [{ cpu: 'x86:8..' }, { cpu: { arch: 'x86', count: { min: 8 } } }],
  [{ cpu: { arch: 'arm', count: 4 } }, { cpu: { arch: 'arm', count: { min: 4, max: 4 } } }],
  [{ memory: '64GB..' }, { memoryGb: { min: 64 } }],
  [{ disk: '100GB..200GB' }, { diskGb: { min: 100, max: 200 } }],
  [{ disk: { size: '50GB..' } }, { diskGb: { min: 50 } }],
  [{ disk: { size: { min: 50 } } }, { diskGb: { min: 50 } }],
])('resources: %j', (resources, expected) => {
  expect(read({ resources }).spec.wanted.requirements).toEqual({ ...noDefaults, ...expected })
})

test('from 0 GPUs on, a machine without any fits, and one with too many does not', () => {
  const wanted = read({ resources: { gpu: '0..2' } }).spec.wanted.requirements
  const has = {
    cpu: { arch: 'x86' as const, count: 8 },
    memoryGb: 64,
    diskGb: 100,
    localDisks: [],
    spot: false,
  }
  const gpus = (count: number) => ({ vendor: 'amd' as const, name: 'MI300X', memoryGb: 192, count })
  expect(fits(wanted, { ...has, gpu: null })).toBe(true)
  expect(fits(wanted, { ...has, gpu: gpus(2) })).toBe(true)
  expect(fits(wanted, { ...has, gpu: gpus(4) })).toBe(false)
})

describe('what Berth does not do is named', () => {
  test.each([
    ['ssh_config', { hosts: [] }],
    ['placement', 'cluster'],
    ['reservation', 'cr-1'],
    ['blocks', 4],
    ['env', {}],
    ['retry', true],
    ['tags', {}],
    ['availability_zones', ['a']],
    ['profiles', []],
  ])('%s', (key, value) => {
    expect(refusals({ ...least, [key]: value })).toEqual([
      [key, `Berth does not support ${key}; leave it out`],
    ])
  })

  test('also below resources, and all at once, beside keys that nobody knows', () => {
    const file = {
      ...least,
      blocks: 2,
      colour: 'red',
      resources: { shm_size: '8GB', gpu: { name: 'MI300X', total_memory: '1TB' }, ram: '8GB' },
    }
    expect(refusals(file).map(([path]) => path)).toEqual([
      'blocks',
      'resources.shm_size',
      'resources.gpu.total_memory',
      'resources.ram',
      'colour',
    ])
  })
})

test.each([
  ['no fleet', { ...least, type: 'service' }, 'type'],
  ['no type', { nodes: 1 }, 'type'],
  ['no nodes', { type: 'fleet' }, 'nodes'],
  ['a name in capitals', { ...least, name: 'Mine' }, 'name'],
  ['a cloud that is not known', { ...least, backends: ['aws'] }, 'backends.0'],
  ['a list that is empty', { ...least, instance_types: [] }, 'instance_types'],
  ['an unknown key', { ...least, node: 1 }, 'node'],
  ['a hundred nodes and one', { ...least, nodes: 101 }, 'nodes.min'],
  ['half a node', { ...least, nodes: 1.5 }, 'nodes'],
  ['fewer than none', { ...least, nodes: -1 }, 'nodes'],
  ['nodes that run backwards', { ...least, nodes: '4..1' }, 'nodes'],
  ['a target below min', { ...least, nodes: { min: 2, target: 1 } }, 'nodes'],
  ['a max below the target', { ...least, nodes: { target: 3, max: 2 } }, 'nodes'],
  ['a price of nothing', { ...least, max_price: 0 }, 'max_price'],
  ['a span in words', { ...least, idle_duration: 'soon' }, 'idle_duration'],
  ['a list', [], ''],
  ['a text', 'fleet', ''],
  ['nothing', undefined, ''],
])('%s is refused, with the place', (_, file, path) => {
  expect(refusals(file).map(([where]) => where)).toContain(path)
})
