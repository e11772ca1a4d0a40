import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { newKeyPair } from '../../lib/shim/key-pair.ts'
import { createSshShim } from '../../lib/shim/ssh-shim.ts'
import { berthKey, setUpMachines, shimSettings } from '../simulated-machines.ts'

// Real shells on a machine that may be busy with other tests.
vi.setConfig({ testTimeout: 30_000 })

let machines: ReturnType<typeof setUpMachines>
beforeEach(() => {
  machines = setUpMachines()
})
afterEach(() => machines.tearDown())

test('SSH that refuses twice and rejects the key once answers in the end', async () => {
  const target = await machines.start('m', { sshTrouble: ['refuse', 'refuse', 'reject_key'] })

  for (let n = 0; n < 3; n++) {
    await expect(machines.connect(target)).rejects.toMatchObject({
      name: 'ShimUnreachable',
      kind: 'unreachable',
    })
  }

  const session = await machines.connect(target)
  expect(session.hostKeyFingerprint).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/)
})

test('SSH that hangs is given up after the time that was handed in', async () => {
  const target = await machines.start('m', { sshTrouble: ['hang'] })

  await expect(machines.connect(target, { timeouts: { connectMs: 200 } })).rejects.toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining('did not answer within 200 ms'),
  })
})

test('a port where nobody listens is unreachable', async () => {
  const free = createServer()
  const port = await new Promise<number>((resolve) => {
    free.listen(0, '127.0.0.1', () => {
      const address = free.address()
      free.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })

  await expect(machines.connect({ hostname: '127.0.0.1', port, username: 'u' })).rejects.toMatchObject({
    kind: 'unreachable',
  })
})

test('a key or a user that the machine does not know is unreachable for now', async () => {
  const target = await machines.start('m')

  await expect(machines.connect(target, { privateKey: newKeyPair().privateKey })).rejects.toMatchObject({
    kind: 'unreachable',
  })
  await expect(machines.connect({ ...target, username: 'ubuntu' })).rejects.toMatchObject({
    kind: 'unreachable',
  })
})

test('a private key that cannot be read is refused at once, and not shown', () => {
  expect(() => createSshShim({ privateKey: 'not-a-key', shim: shimSettings })).toThrow(/cannot be read/)
  expect(() => createSshShim({ privateKey: 'not-a-key', shim: shimSettings })).not.toThrow(/not-a-key/)
})

describe('the host key', () => {
  test('that is pinned is met again', async () => {
    const target = await machines.start('m')
    const { hostKeyFingerprint } = await machines.connect(target)

    const again = await machines.connect({ ...target, hostKeyFingerprint })

    expect(again.hostKeyFingerprint).toBe(hostKeyFingerprint)
  })

  test('that changed is refused, both are named, and without a pin the new one is met', async () => {
    const target = await machines.start('m')
    const { hostKeyFingerprint } = await machines.connect(target)
    await machines.host.stop('m', { wipe: true })
    const anew = await machines.start('m')

    const refused = machines.connect({ ...anew, hostKeyFingerprint })
    await expect(refused).rejects.toMatchObject({
      kind: 'wrong_host_key',
      message: expect.stringContaining(hostKeyFingerprint),
    })

    const second = await machines.connect(anew)
    expect(second.hostKeyFingerprint).not.toBe(hostKeyFingerprint)
    const pinned = await machines.connect({ ...anew, hostKeyFingerprint: second.hostKeyFingerprint })
    expect(pinned.hostKeyFingerprint).toBe(second.hostKeyFingerprint)
  })
})

describe('an agent that does not answer', () => {
  test('is a fault of the agent when it was never started', async () => {
    const session = await machines.connect(await machines.start('m'))

    await expect(session.health()).rejects.toMatchObject({ kind: 'agent' })
    await expect(session.activity()).rejects.toMatchObject({ kind: 'agent' })
  })

  test.each(['error', 'hang'] as const)('is a fault of the agent: %s', async (how) => {
    const target = await machines.start('m')
    const session = await machines.connect(target, { timeouts: { agentMs: 300 } })
    await session.bootstrap()
    await expect.poll(() => machines.host.machine('m').agentPid(), { timeout: 10_000 }).toBeGreaterThan(0)
    machines.host.machine('m').breakAgent(how)

    await expect(session.health()).rejects.toMatchObject({ kind: 'agent' })
    await expect(session.activity()).rejects.toMatchObject({ kind: 'agent' })

    machines.host.machine('m').breakAgent(undefined)
    await expect
      .poll(() => session.health().catch(() => undefined), { timeout: 10_000 })
      .toMatchObject({ version: shimSettings.version })
  })
})

test('what dcgm says of the GPUs comes with the health of the agent', async () => {
  const session = await machines.connect(await machines.start('m'))
  await session.bootstrap()
  await expect.poll(() => machines.host.machine('m').agentPid(), { timeout: 10_000 }).toBeGreaterThan(0)
  expect((await session.health()).gpuHealth).toBeUndefined()

  machines.host.machine('m').setGpuHealth(20)

  expect((await session.health()).gpuHealth).toEqual({ level: 20, incidents: ['NVLINK: a link is down'] })
})

test('a machine that goes away in the middle is unreachable', async () => {
  const session = await machines.connect(await machines.start('m'))

  const asked = session.hardware()
  const refused = expect(asked).rejects.toMatchObject({ kind: 'unreachable' })
  await machines.host.stop('m', { wipe: false })

  await refused
  await expect(session.health()).rejects.toMatchObject({ kind: 'unreachable' })
})

test('a closed session answers nothing more', async () => {
  const session = await machines.connect(await machines.start('m'))
  session.close()

  await expect(session.health()).rejects.toMatchObject({ kind: 'unreachable' })
})

test('the keys that are authorized let their owners in, until they are others', async () => {
  const target = await machines.start('m')
  const session = await machines.connect(target)
  const renter = newKeyPair()

  await session.authorizeKeys([renter.publicKey])
  await machines.connect(target, { privateKey: renter.privateKey })
  await session.authorizeKeys([])

  await expect(machines.connect(target, { privateKey: renter.privateKey })).rejects.toMatchObject({
    kind: 'unreachable',
  })
  expect((await machines.connect(target, { privateKey: berthKey.privateKey })).hostKeyFingerprint).toBe(
    session.hostKeyFingerprint,
  )
})
