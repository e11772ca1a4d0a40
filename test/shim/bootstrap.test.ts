import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ShimSession } from '../../lib/shim/shim.ts'
import { setUpMachines, shimSettings } from '../simulated-machines.ts'

// Real shells on a machine that may be busy with other tests.
vi.setConfig({ testTimeout: 30_000 })

let machines: ReturnType<typeof setUpMachines> | undefined
const setUp = (init: 'systemd' | 'none' = 'systemd') => {
  machines = setUpMachines(init)
  return machines
}
afterEach(() => machines?.tearDown())

const versionOf = (session: ShimSession) =>
  session.health().then(
    ({ version }) => version,
    () => undefined,
  )
const toRun = (session: ShimSession, version = shimSettings.version) =>
  expect.poll(() => versionOf(session), { timeout: 10_000, interval: 50 }).toBe(version)

describe.each(['systemd', 'none'] as const)('on an image with init %s', (init) => {
  const supervisor = init === 'systemd' ? 'systemd' : 'a loop'
  const already = init === 'systemd' ? 'runs under systemd already' : 'runs under its loop already'

  test('the agent comes up, and a second run changes nothing', async () => {
    const { start, connect, host } = setUp(init)
    const session = await connect(await start('m'))

    const first = await session.bootstrap()
    await toRun(session)
    const pid = host.machine('m').agentPid()
    const second = await session.bootstrap()

    expect(first.ok).toBe(true)
    expect(first.output).toContain(`dstack-shim ${shimSettings.version} started by ${supervisor}`)
    expect(second).toEqual({
      ok: true,
      output: `berth: dstack-shim ${shimSettings.version} ${already}; changed: nothing`,
    })
    expect(await versionOf(session)).toBe(shimSettings.version)
    expect(host.machine('m').agentPid()).toBe(pid)
    expect(host.machine('m').downloads()).toHaveLength(2)
  })

  test('two runs at once install and start it once', async () => {
    const { start, connect, host } = setUp(init)
    const target = await start('m')
    const [one, other] = await Promise.all([connect(target), connect(target)])

    const runs = await Promise.all([one.bootstrap(), other.bootstrap()])
    await toRun(one)

    const outputs = runs.map(({ output }) => output).sort()
    expect(outputs[0]).toContain(already)
    expect(outputs[1]).toContain(`started by ${supervisor}`)
    expect(host.machine('m').downloads()).toHaveLength(2)
  })

  test('a new version replaces the old one and is started', async () => {
    const { start, connect } = setUp(init)
    const target = await start('m')
    const old = await connect(target)
    await old.bootstrap()
    await toRun(old)

    const newer = await connect(target, { shim: { ...shimSettings, version: '0.23.0' } })
    const { output } = await newer.bootstrap()

    expect(output).toContain(`dstack-shim 0.23.0 restarted by ${supervisor}`)
    await toRun(newer, '0.23.0')
  })

  test('a download that fails leaves the old agent alone', async () => {
    const { start, connect, host } = setUp(init)
    const target = await start('m')
    const session = await connect(target)
    await session.bootstrap()
    await toRun(session)
    const binary = join(host.machine('m').folder, 'root/usr/local/bin/dstack-shim')
    const before = readFileSync(binary, 'utf8')
    host.machine('m').setDownloadFault(503)

    const newer = await connect(target, { shim: { ...shimSettings, version: '0.23.0' } })
    const { ok, output } = await newer.bootstrap()

    expect(ok).toBe(false)
    expect(output).toContain('returned error: 503')
    expect(output).toMatch(/berth: failed: dstack-runner could not be downloaded from .*$/)
    expect(readFileSync(binary, 'utf8')).toBe(before)
    expect(existsSync(`${binary}.new`)).toBe(false)
    expect(await versionOf(session)).toBe(shimSettings.version)
  })

  test('an agent that is killed is brought back by its supervisor', async () => {
    const { start, connect, host } = setUp(init)
    const session = await connect(await start('m'))
    await session.bootstrap()
    await toRun(session)
    const pid = host.machine('m').agentPid()

    expect(host.machine('m').killAgent()).toBe(true)

    await expect.poll(() => host.machine('m').agentPid(), { timeout: 10_000 }).not.toBe(pid)
    await toRun(session)
  })
})

test('after a failed download, the next run goes on', async () => {
  const { start, connect, host } = setUp()
  const session = await connect(await start('m'))
  host.machine('m').setDownloadFault(404)
  const failed = await session.bootstrap()
  host.machine('m').setDownloadFault(undefined)

  const repaired = await session.bootstrap()

  expect(failed.ok).toBe(false)
  expect(repaired.ok).toBe(true)
  await toRun(session)
})

test('a run that was cut off before the restart is finished by the next', async () => {
  const { start, connect, host } = setUp()
  const target = await start('m')
  const session = await connect(target)
  await session.bootstrap()
  await toRun(session)
  const systemctl = join(host.machine('m').folder, 'bin/systemctl')
  const works = readFileSync(systemctl)
  writeFileSync(systemctl, '#!/bin/sh\n[ "$1" = is-active ]\n')
  const newer = await connect(target, { shim: { ...shimSettings, version: '0.23.0' } })
  const cutOff = await newer.bootstrap()
  writeFileSync(systemctl, works)

  const { output } = await newer.bootstrap()

  expect(cutOff).toMatchObject({ ok: false, output: expect.stringContaining('could not restart') })
  expect(output).toContain('dstack-shim 0.23.0 restarted by systemd')
  await toRun(newer, '0.23.0')
})

test('root needs no sudo', async () => {
  const { start, connect, host } = setUp()
  const target = await start('m', { username: 'root' })
  writeFileSync(join(host.machine('m').folder, 'bin/sudo'), '#!/bin/sh\nexit 1\n')
  const session = await connect(target)

  const { ok, output } = await session.bootstrap()

  expect({ ok, output }).toMatchObject({ ok: true })
  await toRun(session)
})

test('without docker it fails and says so', async () => {
  const { start, connect, host } = setUp()
  const session = await connect(await start('m'))
  writeFileSync(join(host.machine('m').folder, 'bin/docker'), '#!/bin/sh\nexit 127\n')

  const { ok, output } = await session.bootstrap()

  expect(ok).toBe(false)
  expect(output).toContain('berth: failed: docker is not installed')
})

test('an architecture without an agent is named', async () => {
  const { start, connect, host } = setUp()
  const session = await connect(await start('m'))
  writeFileSync(join(host.machine('m').folder, 'bin/uname'), '#!/bin/sh\necho riscv64\n')

  expect((await session.bootstrap()).output).toContain('no agent is published for the architecture riscv64')
})

test.each([
  ['x86_64', 'amd64'],
  ['aarch64', 'arm64'],
] as const)('a machine of %s gets the binaries for %s', async (arch, name) => {
  const { start, connect, host } = setUp()
  const { mi300x } = await import('../simulated-machines.ts')
  const session = await connect(await start('m', { hardware: { ...mi300x, arch } }))

  await session.bootstrap()

  const base = 'https://dstack-runner-downloads.s3.eu-west-1.amazonaws.com'
  expect(host.machine('m').downloads()).toEqual([
    `${base}/${shimSettings.version}/binaries/dstack-runner-linux-${name}`,
    `${base}/${shimSettings.version}/binaries/dstack-shim-linux-${name}`,
  ])
})

test('the firewall lets SSH and private subnets in, and Berth is not locked out', async () => {
  const { start, connect, host } = setUp()
  const target = await start('m')
  await (await connect(target)).bootstrap()

  const again = await connect(target)
  await again.bootstrap()

  const state = join(host.machine('m').folder, 'state')
  expect(readFileSync(join(state, 'ufw-rules'), 'utf8').trim().split('\n')).toEqual([
    'allow 22/tcp',
    `allow ${target.port}/tcp`,
    'allow from 10.0.0.0/8',
    'allow from 172.16.0.0/12',
    'allow from 192.168.0.0/16',
  ])
  expect(readFileSync(join(state, 'ufw-default-incoming'), 'utf8').trim()).toBe('deny')
  expect(existsSync(join(state, 'ufw-enabled'))).toBe(true)
})

test('the unit gives the agent the environment that it reads', async () => {
  const { start, connect, host } = setUp()
  const shim = { ...shimSettings, runner_download_url: 'https://files.example/dstack-runner%20{arch}' }
  const session = await connect(await start('m'), { shim })

  await session.bootstrap()

  const unit = join(host.machine('m').folder, 'root/etc/systemd/system/dstack-shim.service')
  const lines = readFileSync(unit, 'utf8').split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      'ExecStart=/usr/local/bin/dstack-shim',
      'Restart=always',
      'Environment=DSTACK_SHIM_HOME=/root/.dstack',
      'Environment=DSTACK_SHIM_HTTP_PORT=10998',
      'Environment=DSTACK_RUNNER_DOWNLOAD_URL=https://files.example/dstack-runner%%20amd64',
      'Environment=DSTACK_RUNNER_BINARY_PATH=/usr/local/bin/dstack-runner',
      'Environment=DSTACK_RUNNER_HTTP_PORT=10999',
      'Environment=DSTACK_RUNNER_SSH_PORT=10022',
    ]),
  )
})
