import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'

const inThisOrder = (parts: string[]) =>
  new RegExp(parts.map((part) => part.replace(/[.$()]/g, '\\$&')).join('[\\s\\S]*'))

/** Everything that the demo prints, and how it ended. */
const runDemo = async (args: string[]) => {
  const child = spawn(process.execPath, ['sandbox/demo/demo.ts', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const [code] = await once(child, 'close')
  return { code, output }
}

test('the demo tells the whole story of one rental, and ends well', async () => {
  const { code, output } = await runDemo(['--speed', '1200'])
  const inOrder = [
    'bm-mi300x-8  $27.12 an hour, minimum 8 h = $216.96',
    '104 x86 CPUs, 2048 GB, 8 x MI300X 192 GB',
    'rented bm-mi300x-8',
    // Which of its stages is met depends on how busy the computer is.
    'booting: ',
    'installed, SSH answers',
    'shim 0.22.5 is healthy',
    'hardware as advertised',
    'is claimed by its renter',
    'The renter is on the machine and sees 104 CPUs, 8 GPUs.',
    'in use: 1 open SSH session',
    'released by local',
    'idle, and kept: prepaid until',
    'It gets the same machine',
    'with no new charge',
    'the cloud shows that the machine is gone',
    'Terminated: idle_timeout',
    'one machine, one charge, none left.',
  ]
  expect(output).toMatch(inThisOrder(inOrder))
  expect(output).not.toContain('force')
  expect(code).toBe(0)
}, 240_000)

test('on OCI it tells the story of eight H100, given back when idle', async () => {
  const { code, output } = await runDemo(['--backend', 'oci'])
  const inOrder = [
    'oci (eu-frankfurt-1)  BM.GPU.H100.8  $80.00 an hour, at least $80.00',
    '224 x86 CPUs, 2048 GB, 8 x H100 80 GB',
    'rented BM.GPU.H100.8',
    'installed, SSH answers',
    'shim 0.22.5 is healthy',
    'hardware as advertised',
    'The renter is on the machine and sees 224 CPUs, 8 GPUs.',
    'It gets the same machine, nothing new is rented.',
    'the cloud shows that the machine is gone',
    'one machine, one charge, none left.',
  ]
  expect(output).toMatch(inThisOrder(inOrder))
  expect(code).toBe(0)
}, 120_000)

test('a wrong option is told, with what is right', async () => {
  const { code, output } = await runDemo(['--speed', 'fast'])
  expect(code).toBe(1)
  expect(output).toContain('--speed')
  expect(output).toContain('Usage: npm run demo')
})
