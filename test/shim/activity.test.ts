import { once } from 'node:events'
import { readdirSync, renameSync, writeFileSync } from 'node:fs'
import { connect as dial } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { parseActivity } from '../../lib/shim/activity.ts'
import { connectSsh, type SshConnection } from '../../lib/shim/ssh.ts'
import { h100s, renterKey, setUpMachines } from '../simulated-machines.ts'

// Real shells on a machine that may be busy with other tests.
vi.setConfig({ testTimeout: 30_000 })

let machines: ReturnType<typeof setUpMachines>
const renters: SshConnection[] = []
beforeEach(() => {
  machines = setUpMachines()
})
afterEach(async () => {
  for (const renter of renters.splice(0)) renter.close()
  await machines.tearDown()
})

const ready = async (spec: Parameters<typeof machines.start>[1] = {}) => {
  const target = await machines.start('m', spec)
  const session = await machines.connect(target)
  await session.bootstrap()
  await expect.poll(() => machines.host.machine('m').agentPid(), { timeout: 10_000 }).toBeGreaterThan(0)
  return { target, session, machine: machines.host.machine('m') }
}
const enter = async (target: { hostname: string; port: number; username: string }) => {
  const renter = await connectSsh(target, { privateKey: renterKey.privateKey, connectMs: 10_000 })
  renters.push(renter)
  return renter
}
const idle = { runningTasks: 0, sshSessions: 0, gpuPercent: 0 }

test('a machine that nobody uses is idle', async () => {
  const { session } = await ready()
  expect(await session.activity()).toEqual(idle)
})

test('a task counts until it is terminated', async () => {
  const { session, machine } = await ready()
  machine.addTask('one', 'pulling')
  machine.addTask('two')
  expect(await session.activity()).toEqual({ ...idle, runningTasks: 2 })

  machine.endTask('one')
  machine.endTask('two')
  expect(await session.activity()).toEqual(idle)
})

test('a renter counts beside any number of Berth connections, from the same address too', async () => {
  const { session, target } = await ready()
  await session.authorizeKeys([renterKey.publicKey])
  const another = await machines.connect(target)
  expect(await session.activity()).toEqual(idle)
  expect(await another.activity()).toEqual(idle)

  const renter = await enter(target)
  expect((await session.activity()).sshSessions).toBe(1)
  expect((await another.activity()).sshSessions).toBe(1)
  await enter(target)
  expect((await session.activity()).sshSessions).toBe(2)

  renter.close()
  await expect.poll(async () => (await session.activity()).sshSessions, { timeout: 10_000 }).toBe(1)
})

test('marks of connections that ended are swept', async () => {
  const { session, target, machine } = await ready()
  const marks = () => readdirSync(join(machine.folder, 'root/dev/shm/berth-sessions'))
  const another = await machines.connect(target)
  expect(marks()).toHaveLength(2)

  another.close()

  await expect
    .poll(async () => [await session.activity(), marks().length], { timeout: 10_000 })
    .toEqual([idle, 1])
})

test('the mark of a connection that comes while the connections are listed stays', async () => {
  const { session, machine } = await ready()
  const folder = join(machine.folder, 'root/dev/shm/berth-sessions')
  const ss = join(machine.folder, 'bin/ss')
  renameSync(ss, `${ss}.real`)
  const comesAfterwards = `#!/bin/sh\n"${ss}.real" "$@"\n: >"${folder}/192.0.2.9_5009_12"\n`
  writeFileSync(ss, comesAfterwards, { mode: 0o755 })

  await session.activity()

  expect(readdirSync(folder)).toContain('192.0.2.9_5009_12')
})

test('a stranger who has not logged in does not count', async () => {
  const { session, target } = await ready()
  const stranger = dial(target.port, target.hostname)
  // The banner: sshd serves it and waits for a login.
  await once(stranger, 'data')

  expect(await session.activity()).toEqual(idle)
  stranger.destroy()
})

test.each([
  ['AMD', {}],
  ['NVIDIA', { hardware: h100s }],
])('the use of an %s GPU is told, and a tool that cannot say it says nothing', async (_, spec) => {
  const { session, machine } = await ready(spec)
  machine.setGpuPercent(87)
  expect((await session.activity()).gpuPercent).toBe(87)

  machine.setGpuPercent('N/A')
  expect((await session.activity()).gpuPercent).toBeUndefined()
})

describe('of what ss says', () => {
  const own = '0 0 10.0.0.4:22 198.51.100.7:4000'
  const said = (parts: Record<string, string>) =>
    parseActivity(
      Object.entries({ self: '198.51.100.7 4000', ...parts })
        .map(([name, text]) => `\n@@ begin ${name}\n${text}\n@@ end ${name} 0\n`)
        .join(''),
    ).sshSessions

  test.each([
    ['IPv4', '0 0 10.0.0.4:22 192.0.2.1:5000', '192.0.2.1 5000'],
    ['IPv4 on a dual-stack socket', '0 0 [::ffff:10.0.0.4]:22 [::ffff:192.0.2.1]:5000', '192.0.2.1 5000'],
    ['IPv6', '0 0 [2001:db8::4]:22 [2001:db8::1]:5000', '2001:db8::1 5000'],
    ['IPv6 with a zone', '0 0 [fe80::4]%eth0:22 [fe80::1%eth0]:5000', 'fe80::1%eth0 5000'],
  ])('the own connection is known: %s', (_, sockets, self) => {
    expect(said({ sockets, self })).toBe(0)
    expect(said({ sockets: `${sockets}\n${own}` })).toBe(1)
  })

  test.each(['', 'ss: command not found', '0 0 10.0.0.4:22 192.0.2.1:5000'])(
    'sessions that cannot be seen are not taken for none: "%s"',
    (sockets) => {
      expect(() => said({ sockets })).toThrow('the SSH sessions of the machine cannot be read')
    },
  )

  test('a mark counts for the sshd that it was made under', () => {
    const sockets = `${own}\n0 0 10.0.0.4:22 192.0.2.1:5000 users:(("sshd",pid=71,fd=4),("sshd",pid=70,fd=4))`
    expect(said({ sockets, marks: '192.0.2.1_5000_71' })).toBe(0)
    expect(said({ sockets, marks: '192.0.2.1_5000_12' })).toBe(1)
    expect(said({ sockets, marks: '192.0.2.1_5001_71' })).toBe(1)
  })

  test('without the right to see processes, a mark counts by its address', () => {
    const sockets = `${own}\n0 0 10.0.0.4:22 192.0.2.1:5000`
    expect(said({ sockets, marks: '192.0.2.1_5000_71' })).toBe(0)
  })

  test.each(['sshd: root [net]', 'sshd-session: unknown [preauth]', 'sshd: [accepted]'])(
    'a connection served by "%s" has not logged in',
    (title) => {
      const processes = 'users:(("sshd",pid=71,fd=4),("sshd",pid=70,fd=4))'
      const sockets = `${own}\n0 0 10.0.0.4:22 203.0.113.9:5000 ${processes}`
      expect(said({ sockets, titles: `70 sshd: root [priv]\n71 ${title}` })).toBe(0)
      expect(said({ sockets, titles: '70 sshd: root [priv]\n71 sshd: root@notty' })).toBe(1)
    },
  )
})
