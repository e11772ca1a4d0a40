import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bootstrapScript } from '../../lib/shim/bootstrap-script.ts'
import { processesOf } from '../../sandbox/machines/processes.ts'
import { setUpMachines, shimSettings } from '../simulated-machines.ts'

/** Addresses of the loopback network that this file alone uses; which port is free differs from run to run. */
const host = '127.91.17.3'

let machines: ReturnType<typeof setUpMachines>

beforeEach(() => {
  machines = setUpMachines()
})
afterEach(() => machines.tearDown())

const freePort = (address: string) =>
  new Promise<number>((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, address, () => {
      const at = server.address()
      server.close(() => (at && typeof at === 'object' ? resolve(at.port) : reject(new Error('no port'))))
    })
  })
const logOf = (id: string) => {
  const { folder } = machines.host.machine(id)
  return () => readFileSync(join(folder, 'root/var/log/cloud-init-output.log'), 'utf8')
}

describe('a machine with an address of its own', () => {
  test('listens there, and there again after it was off', async () => {
    const listen = { host, port: await freePort(host) }
    expect(await machines.start('m', { listen })).toMatchObject({ hostname: host, port: listen.port })
    await machines.host.stop('m', { wipe: false })
    const target = await machines.start('m', { listen })
    const session = await machines.connect(target)
    expect((await session.hardware()).cpus).toBe(13)
  })

  test('shares a port with one at another address, and is another machine', async () => {
    const port = await freePort(host)
    const one = await machines.start('one', { listen: { host, port } })
    const two = await machines.start('two', { listen: { host: '127.91.17.4', port } })
    const [first, second] = [await machines.connect(one), await machines.connect(two)]
    expect(first.hostKeyFingerprint).not.toBe(second.hostKeyFingerprint)
  })

  test('does not come up where that address is taken', async () => {
    const listen = { host, port: await freePort(host) }
    await machines.start('one', { listen })
    await expect(machines.start('two', { listen })).rejects.toThrow('EADDRINUSE')
  })
})

describe('a boot script', () => {
  const isLogged = (words: string) => expect.poll(logOf('m'), { timeout: 10_000 }).toContain(words)

  test('runs as root at the first boot, and at no other', async () => {
    const userData = '#!/bin/bash\necho "I am $(id -u), this is boot"\n'
    await machines.start('m', { userData })
    await isLogged('I am 0, this is boot\n')
    await machines.host.stop('m', { wipe: false })
    await machines.start('m', { userData })
    expect(logOf('m')()).toBe('I am 0, this is boot\n')
  })

  test('that is no script is left alone', async () => {
    await machines.start('m', { userData: '#cloud-config\nruncmd: []\n' })
    expect(logOf('m')).toThrow('ENOENT')
  })

  test('can be the one that starts the agent', async () => {
    const target = await machines.start('m', { userData: bootstrapScript(shimSettings) })
    const session = await machines.connect(target)
    await expect
      .poll(() => session.health().catch(() => undefined), { timeout: 20_000 })
      .toMatchObject({ version: shimSettings.version })
  })

  test('ends with its machine', async () => {
    await machines.start('m', { userData: '#!/bin/bash\necho begun\nsleep 600\n' })
    await isLogged('begun')
    const { folder } = machines.host.machine('m')
    expect(processesOf(`${folder}/root`)).not.toEqual([])
    await machines.host.stop('m', { wipe: false })
    expect(processesOf(`${folder}/root`)).toEqual([])
  })
})
