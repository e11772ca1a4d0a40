import { expect, test } from 'vitest'
import { reconcile } from '../../lib/lifecycle/reconcile.ts'
import { bareMetal, vm, worldSuite } from '../support/world-suite.ts'

const world = worldSuite()
const terminated = ({ status }: { status: string }) => status === 'terminated'

test('an instance counts once when it is ready, with how long that took, and once when it is over, with why', async () => {
  const w = await world()
  const { id } = await w.rent({ ...vm, idleDuration: 0 })
  const ready = await w.runUntil(id, ({ status }) => status === 'busy')
  const seconds = ((ready.events.at(-1)?.at ?? 0) - ready.createdAt) / 1000
  await w.release(id)
  await w.runUntil(id, terminated)
  expect(w.counted).toEqual([`SecondsToReady hotaisle ${seconds}`, 'Ended idle_timeout 1'])
})

test('a request that nobody can meet is never ready, and counts as over', async () => {
  const w = await world()
  const { id } = await w.rent({ gpu: 'H100:8' })
  await w.runUntil(id, terminated)
  expect(w.counted).toEqual(['Ended no_offers 1'])
})

test('each reconcile counts what is rented, what of it nobody has, and what it costs an hour', async () => {
  const w = await world()
  const { id } = await w.rent(bareMetal)
  await w.rent({ ...vm, hold: '24h' })
  await w.runUntil(id, ({ status }) => status === 'busy', 60)
  await w.release(id)
  w.counted.length = 0
  await reconcile(w.ctx)
  expect(w.counted).toEqual([
    'LiveMachines hotaisle 2',
    'IdleMachines hotaisle 1',
    'PricePerHour hotaisle 29.11',
  ])
})
