import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ssh2 from 'ssh2'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { connectSsh, type SshConnection } from '../../lib/shim/ssh.ts'
import { createSshShim } from '../../lib/shim/ssh-shim.ts'
import { createMachineHost } from '../../sandbox/machines/machine-host-local.ts'
import { processesOf } from '../../sandbox/machines/processes.ts'
import { berthKey, h100s, mi300x, setUpMachines, shimSettings } from '../simulated-machines.ts'

// Real shells on a machine that may be busy with other tests.
vi.setConfig({ testTimeout: 30_000 })

type Target = { hostname: string; port: number; username: string }

let machines: ReturnType<typeof setUpMachines>
const connections: SshConnection[] = []
beforeEach(() => {
  machines = setUpMachines()
})
afterEach(async () => {
  for (const connection of connections.splice(0)) connection.close()
  await machines.tearDown()
})

const log = async (target: Target) => {
  const connection = await connectSsh(target, { privateKey: berthKey.privateKey, connectMs: 10_000 })
  connections.push(connection)
  return (command: string, input = '') => connection.exec(command, { timeoutMs: 10_000, input })
}
const agentRuns = (id: string) =>
  expect.poll(() => machines.host.machine(id).agentPid(), { timeout: 10_000 }).toBeGreaterThan(0)
const isAlive = (pid: number) =>
  existsSync(`/proc/${pid}`) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))

describe('switched off and on', () => {
  test('a machine keeps disk, host key, port and enabled services', async () => {
    const target = await machines.start('m', { sshTrouble: ['refuse'] })
    await expect(machines.connect(target)).rejects.toThrow()
    const session = await machines.connect(target)
    await session.bootstrap()
    await agentRuns('m')
    await (await log(target))('echo kept >data')

    await machines.host.stop('m', { wipe: false })
    const again = await machines.start('m', { sshTrouble: ['refuse'] })

    expect(again).toEqual(target)
    const after = await machines.connect({ ...again, hostKeyFingerprint: session.hostKeyFingerprint })
    await expect.poll(() => after.health().catch(() => undefined), { timeout: 10_000 }).toBeDefined()
    expect((await (await log(again))('cat data')).stdout).toBe('kept\n')
  })

  test('wiped, it has a new disk and a new host key', async () => {
    const target = await machines.start('m')
    const before = await machines.connect(target)
    await (await log(target))('echo gone >data')

    await machines.host.stop('m', { wipe: true })
    const again = await machines.start('m')

    expect((await machines.connect(again)).hostKeyFingerprint).not.toBe(before.hostKeyFingerprint)
    expect((await (await log(again))('cat data')).code).toBe(1)
  })

  test('it takes another port when its own was taken', async () => {
    const target = await machines.start('m')
    await machines.host.stop('m', { wipe: false })
    const squatter = createServer()
    squatter.listen(target.port, '127.0.0.1')
    await once(squatter, 'listening')

    const again = await machines.start('m')
    squatter.close()

    expect(again.port).not.toBe(target.port)
    await machines.connect(again)
  })

  test('nothing of it goes on running', async () => {
    const target = await machines.start('m')
    const run = await log(target)
    const { stdout } = await run('setsid sleep 600 </dev/null >/dev/null 2>&1 & echo $!')
    expect(isAlive(Number(stdout))).toBe(true)

    await machines.host.stop('m', { wipe: false })

    expect(isAlive(Number(stdout))).toBe(false)
  })

  test('starting it twice is starting it once', async () => {
    const [one, other] = await Promise.all([machines.start('m'), machines.start('m')])
    expect(other).toEqual(one)
    expect(await machines.start('m')).toEqual(one)
  })

  test('an id that could leave the folder is refused', async () => {
    await expect(machines.start('../m')).rejects.toThrow('cannot name a simulated machine')
    expect(() => machines.host.machine('off')).toThrow('is off')
  })
})

describe.each(['systemd', 'none'] as const)('a sandbox that is killed, init %s', (init) => {
  test('takes its agents with it, and its machines come back', async () => {
    const program = fileURLToPath(new URL('./machine-in-a-process.ts', import.meta.url))
    const sandbox = spawn(process.execPath, [program, machines.folder, init], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(sandbox.stdout, 'data')
    const told = z
      .object({ agentPid: z.int(), port: z.int(), privateKey: z.string() })
      .parse(JSON.parse(String(line)))
    expect(isAlive(told.agentPid)).toBe(true)

    sandbox.kill('SIGKILL')
    await once(sandbox, 'exit')
    const root = `${machines.folder}/m/root`
    await expect.poll(() => processesOf(root), { timeout: 10_000 }).toEqual([])

    const anew = createMachineHost({ folder: machines.folder, init })
    const target = await anew.start({ id: 'm', username: 'hotaisle', authorizedKeys: [], hardware: mi300x })
    expect(target.port).toBe(told.port)
    const shim = createSshShim({ privateKey: told.privateKey, shim: shimSettings })
    const session = await shim.connect({ ...target, username: 'hotaisle' })
    if (init === 'none') await session.bootstrap()
    await expect.poll(() => session.health().catch(() => undefined), { timeout: 10_000 }).toBeDefined()
    session.close()
    await anew.close()
  })
})

describe('its tools show what is in the box', () => {
  test.each([
    ['AMD', mi300x, { arch: 'x86', gpuVendor: 'amd', gpuName: 'MI300X', gpuCount: 1, gpuMemoryGb: 191.98 }],
    ['NVIDIA', h100s, { gpuVendor: 'nvidia', gpuName: 'H100', gpuCount: 8, gpuMemoryGb: 79.65 }],
    [
      'no GPU',
      { ...mi300x, gpus: null },
      { gpuError: 'neither nvidia-smi nor amd-smi nor rocm-smi is there' },
    ],
    ['arm', { ...mi300x, arch: 'aarch64' as const, cpus: 72 }, { arch: 'arm', cpus: 72 }],
  ])('%s', async (_, hardware, seen) => {
    const session = await machines.connect(await machines.start('m', { hardware }))
    expect(await session.hardware()).toMatchObject({
      memoryGb: Math.round((hardware.memoryKib / 2 ** 20) * 100) / 100,
      diskGb: Math.round((hardware.rootDiskBytes / 2 ** 30) * 100) / 100,
      localDisks: hardware.localDisks,
      ...seen,
    })
  })

  test('without amd-smi, rocm-smi is asked', async () => {
    const session = await machines.connect(await machines.start('m'))
    const bin = join(machines.host.machine('m').folder, 'bin')
    writeFileSync(join(bin, 'amd-smi'), '#!/bin/sh\nexit 127\n')

    expect(await session.hardware()).toMatchObject({
      gpuName: 'MI300X',
      gpuCount: 1,
      driverVersion: '6.10.5',
    })
  })

  test('a tool in /opt/rocm/bin is found though it is not on PATH', async () => {
    const session = await machines.connect(await machines.start('m'))
    const { folder } = machines.host.machine('m')
    const tool = readFileSync(join(folder, 'bin/amd-smi'))
    mkdirSync(join(folder, 'root/opt/rocm/bin'), { recursive: true })
    writeFileSync(join(folder, 'root/opt/rocm/bin/amd-smi'), tool, { mode: 0o755 })
    for (const name of ['amd-smi', 'rocm-smi']) rmSync(join(folder, 'bin', name))

    expect(await session.hardware()).toMatchObject({ gpuName: 'MI300X', gpuCount: 1 })
  })

  test('a GPU that fell off the bus is an error', async () => {
    const session = await machines.connect(await machines.start('m', { hardware: h100s }))
    machines.host.machine('m').setGpuError('Unable to determine the device handle for GPU0000:05:00.0')

    expect((await session.hardware()).gpuError).toContain('Unable to determine the device handle')
  })
})

describe('its stand-ins are as strict as the real ones', () => {
  test.each([
    ['systemctl start dstack-shim', 4, 'Interactive authentication required'],
    ['sudo -n systemctl start nothing', 5, 'could not be found'],
    ['sudo -n systemctl dance', 1, 'Unknown command verb'],
    ['ufw status', 1, 'need to be root'],
    ['sudo -n ufw allow nonsense', 1, 'Invalid syntax'],
    ['sudo -n ufw enable', 1, 'Aborted'],
    ['docker --version', 0, 'Docker version'],
    ['curl -fsSL -o x https://example.org/', 6, 'Could not resolve host'],
    ['id -u', 0, '1000'],
    ['sudo -n id -u', 0, '0'],
    ['nproc', 0, '13'],
    ['lsblk -b --json', 0, '"size":13000000000000'],
  ])('%s', async (command, code, words) => {
    const run = await log(await machines.start('m'))
    const { stdout, stderr, ...result } = await run(command)
    expect(result.code).toBe(code)
    expect(stdout + stderr).toContain(words)
  })

  test('a firewall without a rule for SSH locks out', async () => {
    const target = await machines.start('m')
    await (await log(target))('sudo -n ufw --force enable')

    await expect(machines.connect(target, { timeouts: { connectMs: 300 } })).rejects.toThrow('did not answer')
  })

  test('curl without -f saves the error page, with it nothing', async () => {
    const run = await log(await machines.start('m'))
    machines.host.machine('m').setDownloadFault(404)

    expect((await run('curl -sSL -o page https://x/0.1.0/dstack-shim; cat page')).stdout).toContain('<html>')
    expect((await run('curl -fsSL -o none https://x/0.1.0/dstack-shim')).code).toBe(22)
    expect((await run('cat none')).code).toBe(1)
  })

  test('systemctl runs what the unit file says since the last daemon-reload', async () => {
    const run = await log(await machines.start('m'))
    const { folder } = machines.host.machine('m')
    const units = join(folder, 'root/etc/systemd/system')
    mkdirSync(units, { recursive: true })
    mkdirSync(join(folder, 'root/bin'))
    writeFileSync(
      join(folder, 'root/bin/note'),
      '#!/bin/sh\necho "$WORD" >>"$BERTH_ROOT/notes"\nexec sleep 60\n',
      { mode: 0o755 },
    )
    const notes = () =>
      existsSync(join(folder, 'root/notes')) ? readFileSync(join(folder, 'root/notes'), 'utf8') : ''
    const write = (word: string) =>
      writeFileSync(join(units, 'note.service'), `[Service]\nExecStart=/bin/note\nEnvironment=WORD=${word}\n`)

    write('one')
    await run('sudo -n systemctl enable --now note.service')
    await expect.poll(notes, { timeout: 10_000 }).toBe('one\n')
    write('two')
    await run('sudo -n systemctl restart note')
    await expect.poll(notes, { timeout: 10_000 }).toBe('one\none\n')
    await run('sudo -n systemctl daemon-reload; sudo -n systemctl restart note')
    await expect.poll(notes, { timeout: 10_000 }).toBe('one\none\ntwo\n')

    expect((await run('systemctl is-active note')).stdout).toBe('active\n')
    expect((await run('systemctl is-enabled note')).stdout).toBe('enabled\n')
    await run('sudo -n systemctl disable --now note')
    expect((await run('systemctl is-active note')).code).toBe(3)
    expect((await run('systemctl is-enabled note')).code).toBe(1)
  })
})

describe('its SSH server', () => {
  test('gives a command its input, and tells its output and exit code apart', async () => {
    const run = await log(await machines.start('m'))
    expect(await run('cat; echo oops >&2; exit 7', 'hello')).toEqual({
      code: 7,
      stdout: 'hello',
      stderr: 'oops\n',
    })
  })

  test('shows nothing of the environment of the sandbox', async () => {
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'for-nobody')
    const run = await log(await machines.start('m'))
    const { stdout } = await run('env; pwd')
    vi.unstubAllEnvs()

    expect(stdout).not.toContain('for-nobody')
    expect(stdout).toContain(`\n${machines.folder}/m/home\n`)
    expect(stdout).toMatch(/^SSH_CONNECTION=127\.0\.0\.1 \d+ 127\.0\.0\.1 \d+$/m)
  })

  test('forwards to the agent alone', async () => {
    const target = await machines.start('m')
    const connection = await connectSsh(target, { privateKey: berthKey.privateKey, connectMs: 10_000 })
    connections.push(connection)

    await expect(connection.forward(target.port, { timeoutMs: 5000 })).rejects.toMatchObject({
      kind: 'agent',
    })
  })

  test('gives a person a shell with a terminal', async () => {
    const target = await machines.start('m')
    const client = new ssh2.Client()
    client.on('error', () => {})
    client.connect({ ...target, host: target.hostname, privateKey: berthKey.privateKey })
    await once(client, 'ready')

    const said = await new Promise<string>((resolve, reject) => {
      client.shell((error, shell) => {
        if (error) return reject(error)
        let text = ''
        shell.on('data', (chunk: Buffer) => {
          text += chunk
        })
        shell.on('close', () => resolve(text))
        shell.write('tty >/dev/null && echo with a $((1 + 1))-way terminal\nexit\n')
      })
    })

    client.end()
    expect(said).toContain('with a 2-way terminal')
  })

  test('knows how many are logged in', async () => {
    const target = await machines.start('m')
    const session = await machines.connect(target)
    expect(machines.host.machine('m').openSessions()).toBe(1)

    session.close()

    await expect.poll(() => machines.host.machine('m').openSessions(), { timeout: 10_000 }).toBe(0)
  })

  test('fails as it is told', async () => {
    const target = await machines.start('m')
    machines.host.machine('m').setSshTrouble(['reject_key'])

    await expect(machines.connect(target)).rejects.toThrow('authentication methods failed')
    await machines.connect(target)
  })
})

describe('its agent', () => {
  const setUp = async () => {
    const target = await machines.start('m')
    const session = await machines.connect(target)
    await session.bootstrap()
    await agentRuns('m')
    const connection = await connectSsh(target, { privateKey: berthKey.privateKey, connectMs: 10_000 })
    connections.push(connection)
    const post = async (path: string) => {
      const stream = await connection.forward(10_998, { timeoutMs: 5000 })
      stream.write(`POST ${path} HTTP/1.1\r\nHost: agent\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
      const [answer] = await once(stream, 'data')
      stream.destroy()
      return String(answer).split(' ')[1]
    }
    return { session, post }
  }

  test('ends and removes tasks as the real one', async () => {
    const { session, post } = await setUp()
    machines.host.machine('m').addTask('t')

    expect(await post('/api/tasks/other/terminate')).toBe('404')
    expect(await post('/api/tasks/t/remove')).toBe('409')
    expect((await session.activity()).runningTasks).toBe(1)
    expect(await post('/api/tasks/t/terminate')).toBe('200')
    expect((await session.activity()).runningTasks).toBe(0)
    expect(await post('/api/tasks/t/remove')).toBe('200')
    expect(await post('/api/tasks/t/remove')).toBe('404')
  })

  test('that is shut down is started again', async () => {
    const { session, post } = await setUp()
    const pid = machines.host.machine('m').agentPid()

    expect(await post('/api/shutdown')).toBe('200')

    await expect.poll(() => machines.host.machine('m').agentPid(), { timeout: 10_000 }).not.toBe(pid)
    await expect.poll(() => session.health().catch(() => undefined), { timeout: 10_000 }).toBeDefined()
  })
})
