import { createServer } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { countOf } from '../../sandbox/clouds/hotaisle/simulated-hot-aisle.ts'
import { defaultStock } from '../../sandbox/clouds/hotaisle/stock.ts'
import {
  type HotAisleStage,
  intend,
  offerOf,
  rent,
  sshPublicKey,
  startHotAisleStage,
} from './hotaisle-stage.ts'

let stage: HotAisleStage
beforeEach(async () => {
  stage = await startHotAisleStage({}, { timeouts: { readMs: 2000, createMs: 2000, deleteMs: 300 } })
})
afterEach(() => stage.cloud.stop())

const paid = () =>
  countOf(stage.cloud.requests, 'POST virtual_machines') + countOf(stage.cloud.requests, 'POST bare_metal')

describe('a virtual machine', () => {
  it('is asked for with exactly the Specs of its row', async () => {
    await rent(stage, 'vm-mi300x-1')
    const request = stage.cloud.requests.find(({ endpoint }) => endpoint === 'POST virtual_machines')
    expect(request?.body).toEqual(defaultStock[0]?.specs)
  })

  it('is described with the mark of its intent', async () => {
    await rent(stage, 'vm-mi300x-1', 'berth-mark')
    expect(stage.cloud.ledger()).toMatchObject([{ description: 'berth-mark' }])
  })

  it('counts as launched even if it could not be described, and is described later', async () => {
    stage.cloud.faults.once('PATCH virtual_machines/{vm}', { kind: 'status', status: 500 })
    const ref = await rent(stage, 'vm-mi300x-1', 'berth-mark')
    expect(stage.cloud.ledger()).toMatchObject([{ description: '' }])
    await stage.backend.state(ref)
    expect(stage.cloud.ledger()).toMatchObject([{ description: 'berth-mark' }])
  })

  it('is launched under the lock of its team, bare metal under none', async () => {
    const { backend } = stage
    expect(backend.launchLock(await offerOf(backend, 'vm-mi300x-1'))).toBe('hotaisle:sandbox')
    expect(backend.launchLock(await offerOf(backend, 'bm-mi300x-8'))).toBeUndefined()
  })

  it('is prepared by the list of the machines that exist, and not without it', async () => {
    const { rentalId } = await rent(stage, 'vm-mi300x-1')
    const offer = await offerOf(stage.backend, 'vm-mi300x-1')
    expect(await stage.backend.prepare(offer)).toEqual({ existing: [rentalId] })
    const body = JSON.stringify([{ name: 'vm-without-id' }])
    stage.cloud.faults.once('GET virtual_machines', { kind: 'status', status: 200, body })
    expect(await stage.backend.prepare(offer)).toEqual({ existing: ['name:vm-without-id'] })
    stage.cloud.faults.once('GET virtual_machines', { kind: 'status', status: 200, body: '[{}]' })
    expect(await stage.backend.prepare(offer)).toMatchObject({
      failed: expect.stringContaining('unreadable'),
    })
    stage.cloud.faults.once('GET virtual_machines', { kind: 'cut_before' })
    expect(await stage.backend.prepare(offer)).toMatchObject({ failed: expect.stringContaining('failed') })
  })

  it('is over the limit of its team when its create answers 401 and the key is good', async () => {
    stage.cloud.setAccount({ maximumVirtualMachines: 0 })
    const outcome = await stage.backend.launch(await intend(stage, 'vm-mi300x-1'))
    expect(outcome).toMatchObject({
      outcome: 'rejected',
      code: 'no_quota',
      message: expect.stringContaining('limit'),
    })
  })
})

it('proves a bad key by GET /user/ alone, when a create answers 401', async () => {
  await rent(stage, 'vm-mi300x-1', 'first')
  const rental = await intend(stage, 'vm-mi300x-1', 'second')
  stage.cloud.setApiKey('another.key')
  expect(await stage.backend.launch(rental)).toMatchObject({ outcome: 'rejected', code: 'bad_credentials' })
})

describe('bare metal', () => {
  it('carries the mark of its intent from the start', async () => {
    const ref = await rent(stage, 'bm-mi300x-8', 'berth-mark')
    expect(ref.cloudId).toBe('enc1-gpu001')
    expect(stage.cloud.ledger()).toMatchObject([{ kind: 'bm', description: 'berth-mark' }])
    expect(countOf(stage.cloud.requests, 'PATCH bare_metal/{server}')).toBe(0)
  })

  it('is never rented while it is not enabled', async () => {
    const rental = await intend(stage, 'bm-mi300x-8')
    const outcome = await stage.another({ bare_metal: false }).launch(rental)
    expect(outcome).toMatchObject({ outcome: 'rejected', code: 'invalid_settings' })
    expect(paid()).toBe(0)
  })
})

describe('a refusal', () => {
  it.each([
    ['vm-mi300x-1', 400, 'invalid_settings'],
    ['vm-mi300x-1', 402, 'no_balance'],
    ['vm-mi300x-1', 403, 'no_quota'],
    ['vm-mi300x-1', 404, 'gone'],
    ['vm-mi300x-1', 422, 'invalid_settings'],
    ['vm-mi300x-1', 429, 'throttled'],
    ['bm-mi300x-8', 400, 'gone'],
    ['bm-mi300x-8', 402, 'no_balance'],
    ['bm-mi300x-8', 403, 'no_quota'],
    ['bm-mi300x-8', 404, 'gone'],
    ['bm-mi300x-8', 422, 'invalid_settings'],
  ])('of %s with %i means %s, and nothing was rented', async (instanceType, status, code) => {
    const rental = await intend(stage, instanceType)
    const endpoint = instanceType.startsWith('bm') ? 'POST bare_metal' : 'POST virtual_machines'
    stage.cloud.faults.once(endpoint, { kind: 'status', status, body: 'words of Hot Aisle' })
    const outcome = await stage.backend.launch(rental)
    expect(outcome).toMatchObject({
      outcome: 'rejected',
      code,
      message: expect.stringContaining('words of Hot Aisle'),
    })
    expect(paid()).toBe(1)
  })

  it('with 403 is about the key when it lacks the role', async () => {
    stage.cloud.setAccount({ roles: ['user'] })
    const outcome = await stage.backend.launch(await intend(stage, 'vm-mi300x-1'))
    expect(outcome).toMatchObject({ code: 'bad_credentials', message: expect.stringContaining('operator') })
  })

  it.each([
    ['too low a balance', { creditCents: 100 }, 'no_balance'],
    ['too many servers', { maximumBareMetalServers: 0 }, 'no_quota'],
  ])('for %s is told apart from others', async (_, changes, code) => {
    stage.cloud.setAccount(changes)
    expect(await stage.backend.launch(await intend(stage, 'bm-mi300x-8'))).toMatchObject({ code })
  })

  it('because somebody was faster leads to the next offer', async () => {
    const rental = await intend(stage, 'vm-mi300x-1')
    stage.cloud.setStock([])
    expect(await stage.backend.launch(rental)).toMatchObject({ outcome: 'rejected', code: 'gone' })
  })
})

describe('an answer that is not known', () => {
  it.each([
    ['500', { kind: 'status', status: 500 }],
    ['503', { kind: 'status', status: 503 }],
    ['408', { kind: 'status', status: 408 }],
    ['409, which the contract does not know', { kind: 'status', status: 409 }],
    [
      'a redirect',
      { kind: 'status', status: 307, headers: { location: '/api/teams/sandbox/virtual_machines/' } },
    ],
    ['a cut connection', { kind: 'cut_before' }],
    ['a cut connection after the work was done', { kind: 'lost_answer' }],
    ['200 without JSON', { kind: 'status', status: 200, body: 'created' }],
    ['200 without a name', { kind: 'status', status: 200, body: '{"description":""}' }],
    ['200 with null', { kind: 'status', status: 200, body: 'null' }],
  ] as const)('(%s) leaves open what exists, and is not asked for twice', async (_, fault) => {
    const rental = await intend(stage, 'vm-mi300x-1')
    stage.cloud.faults.once('POST virtual_machines', fault)
    expect(await stage.backend.launch(rental)).toMatchObject({ outcome: 'unknown' })
    expect(paid()).toBe(1)
  })

  it('(a time-out) leaves open what exists, and the machine is found later', async () => {
    const backend = stage.another({}, { timeouts: { createMs: 60 } })
    const rental = await intend(stage, 'vm-mi300x-1')
    stage.cloud.faults.once('POST virtual_machines', { kind: 'delay', ms: 150 })
    const outcome = await backend.launch(rental)
    expect(outcome).toMatchObject({
      outcome: 'unknown',
      message: expect.stringContaining('no answer within'),
    })
    await expect.poll(() => stage.cloud.ledger().length, { interval: 20 }).toBe(1)
    expect(await backend.find(rental)).toMatchObject({ outcome: 'found' })
    expect(paid()).toBe(1)
  })

  it('is no question where the connection was refused: nothing was sent', async () => {
    const rental = await intend(stage, 'vm-mi300x-1')
    await stage.cloud.stop()
    expect(await stage.backend.launch(rental)).toMatchObject({ outcome: 'rejected', code: 'throttled' })
    // The key went up before, so that the refused request is the paid one.
    const closed = await closedPort()
    const launched = stage.another({}, { fetch: keyUploadedThen(`http://127.0.0.1:${closed}/`) })
    expect(await launched.launch(rental)).toMatchObject({ outcome: 'rejected', code: 'throttled' })
  })

  it('never shows the API key', async () => {
    const rental = await intend(stage, 'vm-mi300x-1')
    const body = `echo of Token ${stage.cloud.apiKey}`
    stage.cloud.faults.once('POST virtual_machines', { kind: 'status', status: 500, body })
    const outcome = await stage.backend.launch(rental)
    expect(JSON.stringify(outcome)).toContain('echo of Token <api key>')
  })
})

describe('the SSH key', () => {
  it('is on the account before the first paid call, and is sent once', async () => {
    await rent(stage, 'vm-mi300x-1', 'first')
    await rent(stage, 'vm-mi300x-1', 'second')
    const calls = stage.cloud.requests.map(({ endpoint }) => endpoint)
    expect(calls.indexOf('POST user/ssh_keys')).toBeLessThan(calls.indexOf('POST virtual_machines'))
    expect(countOf(stage.cloud.requests, 'POST user/ssh_keys')).toBe(1)
  })

  it('may be there already', async () => {
    stage.cloud.setAccount({ sshKeys: [sshPublicKey] })
    await rent(stage, 'vm-mi300x-1')
    expect(stage.cloud.ledger()).toHaveLength(1)
  })

  it('need not be added by an API key that may not, if it is there', async () => {
    stage.cloud.setAccount({ userRole: 'user', sshKeys: [sshPublicKey] })
    await rent(stage, 'vm-mi300x-1')
    expect(stage.cloud.ledger()).toHaveLength(1)
  })

  it('must be added by a person if the API key may not, and nothing is rented before', async () => {
    stage.cloud.setAccount({ userRole: 'user' })
    const outcome = await stage.backend.launch(await intend(stage, 'vm-mi300x-1'))
    expect(outcome).toMatchObject({
      code: 'invalid_settings',
      message: expect.stringContaining('public key'),
    })
    expect(paid()).toBe(0)
  })

  it('that is not one is an error of the settings', async () => {
    const backend = stage.another({}, { sshPublicKey: 'ssh-ed25519 AAAA nonsense' })
    const outcome = await backend.launch(await intend(stage, 'vm-mi300x-1'))
    expect(outcome).toMatchObject({ outcome: 'rejected', code: 'invalid_settings' })
  })

  it.each([
    ['fails', { kind: 'status', status: 502 }],
    ['is cut off', { kind: 'cut_before' }],
    ['is throttled', { kind: 'status', status: 429 }],
    ['is refused with 401 though the key is good', { kind: 'status', status: 401 }],
  ] as const)('is tried again later when its upload %s', async (_, fault) => {
    const rental = await intend(stage, 'vm-mi300x-1')
    stage.cloud.faults.once('POST user/ssh_keys', fault)
    expect(await stage.backend.launch(rental)).toMatchObject({ outcome: 'rejected', code: 'throttled' })
    expect(paid()).toBe(0)
    expect(await stage.backend.launch(rental)).toMatchObject({ outcome: 'launched' })
  })

  it('is sent again when somebody took it off the account', async () => {
    await rent(stage, 'vm-mi300x-1', 'first')
    stage.cloud.setAccount({ sshKeys: [] })
    await rent(stage, 'vm-mi300x-1', 'second')
    expect(stage.cloud.ledger()).toHaveLength(2)
    expect(countOf(stage.cloud.requests, 'POST virtual_machines')).toBe(3)
  })

  it('is sent again once, not for ever', async () => {
    const rental = await intend(stage, 'vm-mi300x-1')
    stage.cloud.faults.always('POST virtual_machines', { kind: 'status', status: 428 })
    expect(await stage.backend.launch(rental)).toMatchObject({
      outcome: 'rejected',
      code: 'invalid_settings',
    })
    expect(paid()).toBe(2)
  })
})

describe('credentials', () => {
  it.each([
    ['role operator', () => stage.cloud.setAccount({ roles: ['user'] }), {}, /roles are user.*"operator"/],
    ['team', () => undefined, { team_handle: 'others' }, /"others".*sandbox/],
  ])('without the %s are bad', async (_, spoil, changes, words) => {
    spoil()
    expect(await stage.another(changes).check()).toMatchObject({
      ok: false,
      state: 'bad',
      message: expect.stringMatching(words),
    })
  })

  it.each([
    ['500', { kind: 'status', status: 500 }],
    ['403', { kind: 'status', status: 403 }],
    ['a cut connection', { kind: 'cut_before' }],
    ['nonsense', { kind: 'status', status: 200, body: '[]' }],
  ] as const)('are neither good nor bad after %s', async (_, fault) => {
    stage.cloud.faults.once('GET user', fault)
    expect(await stage.backend.check()).toMatchObject({ ok: false, state: 'unknown' })
  })

  it('do not count for a team whose invitation is still open', async () => {
    const teams = [{ handle: 'sandbox', effective_roles: ['operator'], invitation: true }]
    stage.cloud.faults.once('GET user', { kind: 'status', status: 200, body: JSON.stringify({ teams }) })
    expect(await stage.backend.check()).toMatchObject({ state: 'bad' })
  })
})

const closedPort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (typeof address !== 'object' || !address) throw new Error('no port')
  return address.port
}

/** A network on which the SSH key is taken and everything else goes to one address. */
const keyUploadedThen =
  (url: string): typeof fetch =>
  (input, init) =>
    String(input).includes('ssh_keys') ? Promise.resolve(new Response('{}')) : fetch(url, init)
