import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type SimulatedHotAisle,
  type SimulatedHotAisleOptions,
  startSimulatedHotAisle,
} from '../../sandbox/clouds/hotaisle/simulated-hot-aisle.ts'
import { defaultStock } from '../../sandbox/clouds/hotaisle/stock.ts'
import { sshPublicKey } from '../backends/hotaisle-stage.ts'
import { createMachinesInMemory, type MachinesInMemory } from '../fakes/machines-in-memory.ts'
import { createManualClock, type ManualClock } from '../fakes/manual-clock.ts'

const minute = 60_000
const [vm8, vm13, vm2x, bm] = defaultStock.map(({ specs }) => specs)
const vms = '/teams/sandbox/virtual_machines/'
const servers = '/teams/sandbox/bare_metal/'

let clock: ManualClock
let machines: MachinesInMemory
let folder: string
let cloud: SimulatedHotAisle

const start = async (options: Partial<SimulatedHotAisleOptions> = {}) => {
  const stateFile = join(folder, 'hotaisle.json')
  const account = { sshKeys: [sshPublicKey] }
  cloud = await startSimulatedHotAisle({ clock, machines, stateFile, account, ...options })
}

beforeEach(async () => {
  clock = createManualClock()
  machines = createMachinesInMemory()
  folder = mkdtempSync(join(tmpdir(), 'berth-hotaisle-'))
  await start()
})
afterEach(async () => {
  await cloud.stop()
  rmSync(folder, { recursive: true })
})

const ask = async (method: string, path: string, body?: unknown, token = `Token ${cloud.apiKey}`) => {
  const response = await fetch(`${cloud.url}${path}`, {
    method,
    headers: { authorization: token },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type') === 'application/json'
  return { status: response.status, text, body: isJson && text !== '' ? JSON.parse(text) : undefined }
}

describe('who may call', () => {
  it.each([
    ['no token', '', 401, 'Unauthorized'],
    ['a wrong token', 'Token some.other', 401, 'Unauthorized'],
    ['the token without its word', 'sandbox.hotaisle-key', 401, 'Unauthorized'],
    ['a bearer token', 'Bearer sandbox.hotaisle-key', 401, 'Unauthorized'],
  ])('not one with %s', async (_, token, status, text) => {
    expect(await ask('GET', '/user/', undefined, token)).toEqual({ status, text, body: undefined })
  })

  it('sees nothing of other teams', async () => {
    const answer = await ask('GET', '/teams/others/virtual_machines/')
    expect(answer).toMatchObject({ status: 404, text: 'Not Found: Resource not found' })
  })

  it('may look without the role operator, and do nothing', async () => {
    const { body } = await ask('POST', vms, vm8)
    cloud.setAccount({ roles: ['user'] })
    expect((await ask('GET', vms)).status).toBe(200)
    expect((await ask('POST', vms, vm8)).status).toBe(403)
    expect((await ask('POST', servers, { specs: bm })).status).toBe(403)
    expect((await ask('PATCH', `${vms}${body.name}/`, { description: 'x' })).status).toBe(403)
    expect((await ask('DELETE', `${vms}${body.name}/?force=true`)).status).toBe(403)
    expect(cloud.ledger()).toMatchObject([{ endedAt: null, description: '' }])
  })
})

describe('what is asked for', () => {
  it.each([
    ['GET', '/teams/sandbox/virtual_machines', 404],
    ['GET', '/nothing/', 404],
    ['PUT', '/teams/sandbox/virtual_machines/', 405],
    ['GET', '/teams/sandbox/virtual_machines/nobody/', 404],
  ])('%s %s is answered with %i', async (method, path, status) => {
    expect((await ask(method, path)).status).toBe(status)
  })

  it.each([
    ['no JSON', '{', 400],
    ['a list', [], 400],
    ['no Specs', {}, 422],
    ['a core that is text', { ...vm8, cpu_cores: '8' }, 422],
    ['rounded memory', { ...vm8, ram_capacity: 224e9 }, 404],
    ['Specs without their CPU', { ...vm8, cpus: undefined }, 404],
    ['the CPU of another row', { ...vm8, cpus: vm13?.cpus }, 404],
  ])('of a VM with %s is refused, and nothing is charged', async (_, body, status) => {
    expect((await ask('POST', vms, body)).status).toBe(status)
    expect(cloud.ledger()).toEqual([])
    expect(cloud.balanceCents()).toBe(1_000_000)
  })

  it('may have fields that are not known: they do nothing', async () => {
    const { body } = await ask('POST', vms, { ...vm8, description: 'dropped', name: 'dropped' })
    expect(body).toMatchObject({ name: 'enc1-gpuvm001', description: '' })
  })

  it('of an account without an SSH key is answered with 428', async () => {
    cloud.setAccount({ sshKeys: [] })
    expect((await ask('POST', vms, vm8)).status).toBe(428)
  })

  it('has its CPUs as an object for VMs and as a list for bare metal', async () => {
    expect((await ask('GET', `${vms}available/`)).body[0].Specs.cpus).toMatchObject({ cores: 8 })
    expect((await ask('GET', `${servers}available/`)).body[0].Specs.cpus).toMatchObject([
      { cores: 52, count: 2 },
    ])
  })

  it('is null where a list is empty', async () => {
    expect(await ask('GET', vms)).toMatchObject({ status: 200, text: 'null' })
  })

  it.each([
    ['that is there already', sshPublicKey, 409],
    ['of no known form', 'nonsense', 422],
    ['whose bytes are of another type', sshPublicKey.replace('ssh-ed25519', 'ssh-rsa'), 422],
  ])('to add an SSH key %s is refused', async (_, key, status) => {
    expect((await ask('POST', '/user/ssh_keys/', { authorized_key: key })).status).toBe(status)
  })
})

describe('the stock', () => {
  const quantities = async () =>
    (await ask('GET', `${vms}available/`)).body.map(({ Quantity }: { Quantity: number }) => Quantity)

  it('shrinks with each rental and comes back when the machine is wiped', async () => {
    const { body } = await ask('POST', vms, vm8)
    expect(await quantities()).toEqual([3, 4, 4])
    await ask('DELETE', `${vms}${body.name}/?force=true`)
    expect(await quantities()).toEqual([3, 4, 4])
    clock.advance(minute)
    expect(await quantities()).toEqual([4, 4, 4])
  })

  it('gives the name of a slot to the next, with a deployment_id of its own', async () => {
    const first = (await ask('POST', vms, vm8)).body
    await ask('DELETE', `${vms}${first.name}/?force=true`)
    clock.advance(minute)
    const second = (await ask('POST', vms, vm8)).body
    expect(second.name).toBe(first.name)
    expect(second.deployment_id).not.toBe(first.deployment_id)
  })
})

it('wipes a machine no longer because it was asked twice', async () => {
  const { body } = await ask('POST', vms, vm8)
  await ask('DELETE', `${vms}${body.name}/?force=true`)
  clock.advance(minute / 2)
  expect((await ask('DELETE', `${vms}${body.name}/`)).status).toBe(204)
  clock.advance(minute / 2)
  expect((await ask('GET', `${vms}${body.name}/`)).status).toBe(404)
})

describe('money', () => {
  it('is taken for the minimum at once, then by the started minute, until the machine is given back', async () => {
    const { body } = await ask('POST', vms, vm2x)
    expect(cloud.balanceCents()).toBe(1_000_000 - 398)
    clock.advance(60 * minute)
    expect(cloud.balanceCents()).toBe(1_000_000 - 398)
    clock.advance(1)
    expect(cloud.balanceCents()).toBe(1_000_000 - Math.ceil((398 * 61) / 60))
    await ask('DELETE', `${vms}${body.name}/`)
    clock.advance(600 * minute)
    expect(cloud.balanceCents()).toBe(1_000_000 - Math.ceil((398 * 61) / 60))
  })

  it('for bare metal is eight hours at once, which giving back early forfeits', async () => {
    const { body } = await ask('POST', servers, { specs: bm, description: 'mine' })
    expect((await ask('DELETE', `${servers}${body.name}/`)).status).toBe(400)
    expect((await ask('DELETE', `${servers}${body.name}/?force=true`)).status).toBe(204)
    expect(cloud.ledger()).toMatchObject([{ kind: 'bm', description: 'mine', minimumMinutes: 480 }])
    expect(cloud.ledger()[0]?.chargedCents(clock.now())).toBe(21_696)
  })

  it('is shown with what runs', async () => {
    await ask('POST', vms, vm8)
    await ask('POST', servers, { specs: bm })
    expect((await ask('GET', '/teams/sandbox/balance/')).body).toEqual({
      available_balance: 1_000_000 - 4 - 21_696,
      hourly_rate: 199 + 2712,
      virtual_machine_count: 1,
      bare_metal_server_count: 1,
    })
  })

  it('that does not reach for the minimum rents nothing', async () => {
    cloud.setAccount({ creditCents: 21_695 })
    expect((await ask('POST', servers, { specs: bm })).status).toBe(402)
    cloud.setAccount({ creditCents: 21_696 })
    expect((await ask('POST', servers, { specs: bm })).status).toBe(201)
  })

  it('can be looked at by people without a key', async () => {
    await ask('POST', vms, vm8)
    const ledger = await (await fetch(new URL('/_sandbox/ledger', cloud.url))).json()
    expect(ledger).toMatchObject({
      balanceCents: 999_996,
      rentals: [{ name: 'enc1-gpuvm001', chargedCents: 4 }],
    })
  })
})

describe('the machines', () => {
  it('are switched on when they are up, with the hardware that was sold and the keys of the account', async () => {
    const { body } = await ask('POST', servers, { specs: bm })
    clock.advance(15 * minute - 1)
    await ask('GET', servers)
    expect(machines.running()).toEqual([])
    clock.advance(1)
    const server = (await ask('GET', `${servers}${body.name}/`)).body
    expect(server).toMatchObject({ ssh_access: { ip_address: '127.0.0.1', port: 40_000 } })
    expect(machines.running()).toMatchObject([
      {
        username: 'hotaisle',
        authorizedKeys: [sshPublicKey],
        hardware: {
          cpus: 104,
          memoryKib: Math.floor(2048 * 2 ** 20 * 0.97),
          rootDiskBytes: 438 * 2 ** 30,
          gpus: { name: 'AMD Instinct MI300X', count: 8, memoryMib: 196_592 },
        },
      },
    ])
  })

  it('can be made to differ from what was sold', async () => {
    cloud.faults.nextMachine({ bootMs: 1, gpuCount: 0, hardware: { cpus: 7 }, sshTrouble: ['hang'] })
    await ask('POST', vms, vm8)
    await ask('POST', vms, vm8)
    clock.advance(minute)
    await ask('GET', vms)
    expect(machines.running()).toMatchObject([
      { hardware: { cpus: 7, gpus: null }, sshTrouble: ['hang'] },
      { hardware: { cpus: 8, gpus: { name: 'AMD Instinct MI300X VF', count: 1 } }, sshTrouble: [] },
    ])
  })

  it('are switched on once, however many ask at the same time', async () => {
    await ask('POST', vms, vm8)
    clock.advance(minute)
    const gate = Promise.withResolvers<void>()
    machines.gate = gate.promise
    const answers = Promise.all([ask('GET', vms), ask('GET', servers), ask('GET', vms)])
    await expect.poll(() => cloud.requests.length).toBe(4)
    gate.resolve()
    await answers
    expect(machines.started).toHaveLength(1)
  })

  it('are wiped when they are given back', async () => {
    const { body } = await ask('POST', vms, vm8)
    clock.advance(minute)
    await ask('GET', vms)
    await ask('DELETE', `${vms}${body.name}/`)
    expect(machines.running()).toEqual([])
    expect(machines.wiped).toHaveLength(1)
  })
})

describe('a cloud that is started again on its file', () => {
  it('knows its rentals, keys and money, and brings back the machines that were up', async () => {
    await ask('POST', vms, vm8)
    clock.advance(minute)
    const before = (await ask('GET', vms)).body
    const spent = cloud.balanceCents()
    await cloud.stop()
    machines = createMachinesInMemory()
    await start()
    expect(machines.running()).toHaveLength(1)
    expect((await ask('GET', vms)).body).toEqual(before)
    expect(cloud.balanceCents()).toBe(spent)
    expect((await ask('GET', '/user/ssh_keys/')).body).toHaveLength(1)
  })

  it('has forgotten nothing that it answered, even if it was never stopped in order', async () => {
    const { body } = await ask('POST', servers, { specs: bm, description: 'mine' })
    const killed = cloud
    await start()
    expect((await ask('GET', servers)).body).toMatchObject([{ name: body.name, description: 'mine' }])
    await killed.stop()
  })
})

describe('a DELETE that answers when it is done', () => {
  beforeEach(async () => {
    await cloud.stop()
    await start({ timings: { deleteAnswers: 'when_done' } })
  })

  it('waits until the machine is wiped', async () => {
    const { body } = await ask('POST', vms, vm8)
    let isAnswered = false
    const deleted = ask('DELETE', `${vms}${body.name}/?force=true`).finally(() => {
      isAnswered = true
    })
    await expect.poll(() => cloud.ledger()[0]?.endedAt).not.toBeNull()
    expect((await ask('GET', `${vms}${body.name}/state/`)).body).toMatchObject({ state: 'shut off' })
    expect(isAnswered).toBe(false)
    clock.advance(minute)
    expect((await deleted).status).toBe(204)
    expect((await ask('GET', `${vms}${body.name}/`)).status).toBe(404)
  })

  it('does not keep the cloud from stopping', async () => {
    const { body } = await ask('POST', vms, vm8)
    const deleted = ask('DELETE', `${vms}${body.name}/?force=true`).catch(() => 'cut')
    await expect.poll(() => cloud.ledger()[0]?.endedAt).not.toBeNull()
    await cloud.stop()
    expect(await deleted).toBe('cut')
    await start()
  })
})
