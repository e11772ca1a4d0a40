import { expect, test } from 'vitest'
import type { Context } from '../../lib/context.ts'
import { check } from '../../lib/lifecycle/check.ts'
import { createInstance } from '../../lib/lifecycle/create.ts'
import { provision } from '../../lib/lifecycle/provision.ts'
import { createRequest } from '../../lib/model/request.ts'
import type { World } from '../support/world.ts'
import { bareMetal, minute, vm, worldSuite } from '../support/world-suite.ts'

const world = worldSuite()
const reserved = { gpu: 'MI300X:2' }

/** A context whose backends do something else for some calls. */
const withBackend = (w: World, change: (backend: Context['backends'][number]) => object): Context => ({
  ...w.ctx,
  backends: w.ctx.backends.map((backend) => ({ ...backend, ...change(backend) })),
})

test('a double of the provision message whose listing came after the launch does not end what was rented', async () => {
  const w = await world()
  const { id } = await w.rent(bareMetal)
  let listed = () => {}
  const gate = new Promise<void>((resolve) => (listed = resolve))
  const slow = withBackend(w, (backend) => ({
    offers: async (wanted: Parameters<typeof backend.offers>[0]) => {
      await gate
      const { offers, errors } = await backend.offers(wanted)
      // the last one is sold: to us
      return { offers: offers.map((o) => ({ ...o, availability: 'not_available' as const })), errors }
    },
  }))
  const double = provision(slow, id)
  await provision(w.ctx, id)
  expect((await w.show(id)).phase).toBe('booting')
  listed()
  await double
  expect(await w.show(id)).toMatchObject({ status: 'provisioning', phase: 'booting' })
})

test('a double of the provision message does not free the lock of the launch under way', async () => {
  const w = await world()
  const { id } = await w.rent(vm)
  w.cloud.faults.once('POST virtual_machines', { kind: 'lost_answer' })
  await Promise.all([provision(w.ctx, id), provision(w.ctx, id)])
  const { intent } = await w.show(id)
  expect(intent?.lock).toBeDefined()
  const now = w.clock.now()
  const other = await w.ctx.store.takeLock(intent?.lock ?? '', 'i-other', { now, until: now + 1000 })
  expect(other).toBe(false)
})

test('the launch lock is held until the intent is resolved, however long that takes', async () => {
  const w = await world()
  const { id } = await w.rent(vm)
  w.cloud.faults.once('POST virtual_machines', { kind: 'lost_answer' })
  await w.runUntil(id, ({ intent }) => intent?.unclearSince !== undefined)
  w.cloud.faults.always('GET virtual_machines', { kind: 'status', status: 500 })
  await w.run(11)
  const { intent } = await w.show(id)
  expect(intent?.lock).toBeDefined()
  const now = w.clock.now()
  expect(await w.ctx.store.takeLock(intent?.lock ?? '', 'i-other', { now, until: now + 1000 })).toBe(false)
})

test('after a lock ran out, two records never have one machine', async () => {
  const w = await world()
  const first = await w.rent(vm)
  // nothing was made, and nothing can be proved for longer than the lock lasts
  w.cloud.faults.once('POST virtual_machines', { kind: 'cut_before' })
  await w.runUntil(first.id, ({ intent }) => intent?.unclearSince !== undefined)
  w.cloud.faults.always('GET virtual_machines', { kind: 'status', status: 500 })
  await w.run(11)
  w.cloud.faults.clear()
  // the second launches; while it waits for the answer of its create, the first looks for what came of its own
  const second = await w.rent(vm, { name: 'bob' })
  const interleaved = withBackend(w, (backend) => ({
    launch: async (rental: Parameters<typeof backend.launch>[0]) => {
      // the machine is made and its answer still under way: it has no description yet
      const described = w.cloud.faults
      described.once('PATCH virtual_machines/{vm}', { kind: 'status', status: 500 })
      const outcome = await backend.launch(rental)
      w.clock.advance(2 * minute)
      await provision(w.ctx, first.id)
      return outcome
    },
  }))
  await provision(interleaved, second.id)
  const a = await w.show(first.id)
  const b = await w.show(second.id)
  const rentals = [a, b].flatMap(({ machine }) => machine?.rentalId ?? [])
  expect(new Set(rentals).size).toBe(rentals.length)
})

test('an idle machine that a check has just written is taken all the same, and nothing new is rented', async () => {
  const w = await world()
  const { id } = await w.rent({ ...reserved, claim: false })
  await w.runUntil(id, ({ status }) => status === 'idle')
  const ctx: Context = {
    ...w.ctx,
    store: {
      ...w.ctx.store,
      list: async (page) => {
        const found = await w.ctx.store.list(page)
        w.clock.advance(5 * minute)
        await check(w.ctx, id)
        return found
      },
    },
  }
  const taken = await createInstance(ctx, createRequest.parse(reserved), { name: 'bob' })
  expect((await w.show(id)).status).not.toBe('terminating')
  expect(taken.id).toBe(id)
})

test('a launch that answers after its intent was closed is not forgotten', async () => {
  const w = await world()
  const { id } = await w.rent(bareMetal)
  let go = () => {}
  const gate = new Promise<void>((resolve) => (go = resolve))
  const slow = withBackend(w, (backend) => ({
    launch: async (rental: Parameters<typeof backend.launch>[0]) => {
      await gate
      return backend.launch(rental)
    },
  }))
  const late = provision(slow, id)
  await expect.poll(async () => (await w.show(id)).intent).toBeDefined()
  await w.remove(id)
  await w.runUntil(id, ({ status }) => status === 'terminated', 30)
  go()
  await late
  await w.run(24 * 60)
  expect(w.stillRented()).toEqual([])
})
