import { describe, expect, test } from 'vitest'
import { provision } from '../../lib/lifecycle/provision.ts'
import { terminate } from '../../lib/lifecycle/terminate.ts'
import { bareMetal, minute, vm, worldSuite } from '../support/world-suite.ts'

const world = worldSuite()

describe('a create whose answer is lost', () => {
  test.each([
    ['VM', vm, 'POST virtual_machines'],
    ['bare metal', bareMetal, 'POST bare_metal'],
  ] as const)('%s: the machine is adopted, and there is exactly one', async (_, wanted, endpoint) => {
    const w = await world()
    w.cloud.faults.once(endpoint, { kind: 'lost_answer' })
    const { id } = await w.rent(wanted)
    const ready = await w.runUntil(id, ({ status }) => status === 'busy', 70)
    expect(w.rentals()).toHaveLength(1)
    expect(w.requestsTo(endpoint)).toHaveLength(1)
    expect(ready.machine?.cloudId).toBe(w.rentals()[0]?.name)
    expect(w.rentals()[0]?.description).toBe(ready.machine?.mark)
    expect(ready.events.map(({ message }) => message).join()).toContain('is adopted')
  })

  test('and that had done nothing leads to one machine, after the absence is proved', async () => {
    const w = await world()
    w.cloud.faults.once('POST bare_metal', { kind: 'cut_before' })
    const { id } = await w.rent(bareMetal)
    await w.runUntil(id, ({ status }) => status === 'busy', 70)
    expect(w.rentals()).toHaveLength(1)
    const posts = w.requestsTo('POST bare_metal')
    expect(posts).toHaveLength(2)
  })

  test('by a server error counts as lost, and nothing is launched while it is unclear', async () => {
    const w = await world()
    w.cloud.faults.once('POST virtual_machines', { kind: 'status', status: 503 })
    const { id } = await w.rent(vm)
    await w.run(8)
    expect(await w.show(id)).toMatchObject({ phase: 'launching', intent: { attempt: 1 } })
    expect(w.requestsTo('POST virtual_machines')).toHaveLength(1)
    expect(w.said.join()).toContain('LaunchUnclear')
    await w.runUntil(id, ({ status }) => status === 'busy', 30)
    expect(w.rentals()).toHaveLength(1)
  })

  test('while the machines cannot be listed stays unclear for as long as that lasts', async () => {
    const w = await world()
    w.cloud.faults.once('POST virtual_machines', { kind: 'lost_answer' })
    const { id } = await w.rent(vm)
    await w.runUntil(id, ({ intent }) => intent?.unclearSince !== undefined)
    w.cloud.faults.always('GET virtual_machines', { kind: 'status', status: 500 })
    await w.run(20)
    expect((await w.show(id)).intent).toBeDefined()
    w.cloud.faults.clear()
    await w.runUntil(id, ({ status }) => status === 'busy')
    expect(w.rentals()).toHaveLength(1)
  })
})

describe('a handler that dies', () => {
  test('between its intent and the launch: its lease runs out, and one machine is rented', async () => {
    const w = await world()
    const { id } = await w.rent(vm)
    const dies = {
      ...w.ctx,
      backends: w.ctx.backends.map((backend) => ({
        ...backend,
        launch: () => Promise.reject(new Error('killed')),
      })),
    }
    await expect(provision(dies, id)).rejects.toThrow('killed')
    expect(await w.show(id)).toMatchObject({ phase: 'launching', intent: { attempt: 1 } })
    await w.runUntil(id, ({ status }) => status === 'busy', 30)
    expect(w.rentals()).toHaveLength(1)
  })

  test('between the launch and its record: the machine is adopted', async () => {
    const w = await world()
    const { id } = await w.rent(bareMetal)
    const dies = {
      ...w.ctx,
      backends: w.ctx.backends.map((backend) => ({
        ...backend,
        launch: async (rental: Parameters<typeof backend.launch>[0]) => {
          await backend.launch(rental)
          throw new Error('killed')
        },
      })),
    }
    await expect(provision(dies, id)).rejects.toThrow('killed')
    await w.runUntil(id, ({ status }) => status === 'busy', 70)
    expect(w.rentals()).toHaveLength(1)
    expect(w.requestsTo('POST bare_metal')).toHaveLength(1)
  })
})

describe('two deliveries of one message', () => {
  test('at the same moment launch once', async () => {
    const w = await world()
    const { id } = await w.rent(bareMetal)
    await Promise.all([provision(w.ctx, id), provision(w.ctx, id), provision(w.ctx, id)])
    expect(w.requestsTo('POST bare_metal')).toHaveLength(1)
  })

  test('the second while the first still launches does nothing', async () => {
    const w = await world()
    const { id } = await w.rent(bareMetal)
    w.cloud.faults.once('POST bare_metal', { kind: 'delay', ms: 300 })
    const first = provision(w.ctx, id)
    await expect.poll(async () => (await w.show(id)).intent).toBeDefined()
    await provision(w.ctx, id)
    await first
    expect(await w.show(id)).toMatchObject({ phase: 'booting' })
    expect(w.rentals()).toHaveLength(1)
  })
})

describe('a refusal leads to the next offer, and says why', () => {
  test.each([
    [401, 'no_quota'],
    [402, 'no_balance'],
    [404, 'gone'],
  ])('HTTP %i at VM create is %s', async (status, code) => {
    const w = await world()
    w.cloud.faults.once('POST virtual_machines', { kind: 'status', status, body: 'refused' })
    const { id } = await w.rent(vm)
    const ready = await w.runUntil(id, ({ phase }) => phase === 'booting')
    expect(ready.events.map(({ message }) => message).join('\n')).toContain(`was not rented, ${code}`)
    expect(ready.attempts).toBe(2)
    expect(w.rentals()).toHaveLength(1)
  })

  test('and when every offer was refused the request ends, and nothing was rented', async () => {
    const w = await world({ bareMetal: false })
    w.cloud.faults.always('POST virtual_machines', { kind: 'status', status: 404 })
    const { id } = await w.rent({ ...vm, name: 'unlucky' })
    const gone = await w.runUntil(id, ({ status }) => status === 'terminated')
    expect(gone).toMatchObject({ terminationReason: 'no_offers' })
    expect(gone.terminationMessage).toContain('every fitting offer was tried (2)')
    expect(w.requestsTo('POST virtual_machines')).toHaveLength(2)
    expect(w.rentals()).toEqual([])
  })

  test('but a throttled one is asked again after the time that the cloud named', async () => {
    const w = await world()
    w.cloud.faults.once('POST virtual_machines', {
      kind: 'status',
      status: 429,
      headers: { 'retry-after': '90' },
    })
    const { id } = await w.rent(vm)
    const before = w.clock.now()
    await w.runUntil(id, ({ phase }) => phase === 'booting')
    expect(w.clock.now() - before).toBeGreaterThanOrEqual(90_000)
    expect(w.requestsTo('POST virtual_machines')).toHaveLength(2)
  })

  test('and bad credentials end it without a second try at the same cloud', async () => {
    const w = await world()
    const { id } = await w.rent(vm)
    w.cloud.faults.once('POST virtual_machines', { kind: 'status', status: 401 })
    w.cloud.faults.always('GET user', { kind: 'status', status: 401 })
    const gone = await w.runUntil(id, ({ status }) => status === 'terminated')
    expect(gone.terminationReason).toBe('no_offers')
    expect(w.requestsTo('POST virtual_machines')).toHaveLength(1)
  })
})

test('one list of offers that fails takes nothing from the other, and stands in the errors', async () => {
  const w = await world()
  w.cloud.faults.always('GET virtual_machines/available', { kind: 'status', status: 500 })
  const { id } = await w.rent({ gpu: 'MI300X:1..' })
  const ready = await w.runUntil(id, ({ phase }) => phase === 'booting')
  expect(ready.instanceType).toBe('bm-mi300x-8')
})

test('a cloud that does not answer is waited for, and then the request ends', async () => {
  const w = await world()
  w.cloud.faults.always('GET virtual_machines/available', { kind: 'status', status: 500 })
  w.cloud.faults.always('GET bare_metal/available', { kind: 'status', status: 500 })
  const { id } = await w.rent(vm)
  await w.run(4)
  expect(await w.show(id)).toMatchObject({ status: 'pending' })
  const gone = await w.runUntil(id, ({ status }) => status === 'terminated', 30)
  expect(gone).toMatchObject({ terminationReason: 'no_offers' })
})

test('VMs of one team are launched one after the other, so that each is known', async () => {
  const w = await world()
  const ids = (await Promise.all([w.rent(vm), w.rent(vm), w.rent(vm)])).map(({ id }) => id)
  w.cloud.faults.once('POST virtual_machines', { kind: 'lost_answer' })
  await Promise.all(ids.map((id) => provision(w.ctx, id)))
  for (const id of ids) await w.runUntil(id, ({ status }) => status === 'busy', 40)
  const machines = await Promise.all(ids.map(async (id) => (await w.show(id)).machine?.rentalId))
  expect(new Set(machines).size).toBe(3)
  expect(w.rentals()).toHaveLength(3)
})

describe('a request that is deleted while it launches', () => {
  test('gives the machine back that the launch still brings', async () => {
    const w = await world()
    const { id } = await w.rent(vm)
    w.cloud.faults.once('POST virtual_machines', { kind: 'delay', ms: 300 })
    const launching = provision(w.ctx, id)
    await expect.poll(async () => (await w.show(id)).intent).toBeDefined()
    await w.remove(id)
    await terminate(w.ctx, id)
    await launching
    expect(await w.show(id)).toMatchObject({
      status: 'terminating',
      machine: { cloudId: expect.any(String) },
    })
    await w.runUntil(id, ({ status }) => status === 'terminated')
    expect(w.rentals()).toHaveLength(1)
    expect(w.stillRented()).toEqual([])
  })

  test('waits for what its lost launch brought, and keeps to the prepaid time', async () => {
    const w = await world()
    w.cloud.faults.once('POST bare_metal', { kind: 'lost_answer' })
    const { id } = await w.rent(bareMetal)
    await w.runUntil(id, ({ intent }) => intent?.unclearSince !== undefined)
    const deleted = await w.remove(id)
    expect(deleted.status).toBe('terminating')
    const gone = await w.runUntil(id, ({ status }) => status === 'terminated')
    expect(w.rentals()).toHaveLength(1)
    expect(w.stillRented()).toEqual([])
    expect((gone.releasedAt ?? 0) - (gone.startedAt ?? 0)).toBeGreaterThanOrEqual(480 * minute)
  })

  test('before it launched rents nothing', async () => {
    const w = await world()
    const { id } = await w.rent(vm)
    await w.remove(id)
    const gone = await w.runUntil(id, ({ status }) => status === 'terminated')
    expect(gone.terminationReason).toBe('terminated_by_user')
    expect(w.rentals()).toEqual([])
  })
})
