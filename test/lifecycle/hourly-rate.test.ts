import { expect, test } from 'vitest'
import { reconciling } from '../support/reconciling.ts'
import { vm, worldSuite } from '../support/world-suite.ts'

const world = worldSuite()
const start = async () => reconciling(await world({ oci: true }))
const busy = ({ status }: { status: string }) => status === 'busy'

test('a rate that is the sum of the machines raises nothing, as they come and go', async () => {
  const w = await start()
  const { id } = await w.rent({ ...vm, hold: '20m' })
  await w.pass(10)
  await w.remove(id)
  await w.pass(20)
  expect((await w.show(id)).status).toBe('terminated')
  expect(w.alarms).toEqual([])
})

test('a rate that differs by the same sum at two looks is told, with both sums', async () => {
  const w = await start()
  await w.runUntil((await w.rent({ ...vm, hold: '9h' })).id, busy, 30)
  w.alter('hotaisle', ({ hourlyRate }) => ({ hourlyRate: async () => ((await hourlyRate()) ?? 0) + 398 }))
  await w.reconcile()
  expect(w.alarms).toEqual([])
  await w.pass(5)
  expect(w.alarmsOf('LedgerDiffers')).toMatchObject([
    {
      backend: 'hotaisle',
      rate: 597,
      believed: 199,
      message: expect.stringContaining('charges $5.97 an hour'),
    },
  ])
})

test('a rate that differed at one look alone, or not twice by the same, is not told', async () => {
  const w = await start()
  let more = 398
  w.alter('hotaisle', ({ hourlyRate }) => ({ hourlyRate: async () => ((await hourlyRate()) ?? 0) + more }))
  for (const next of [199, 0, 199]) {
    await w.pass(5)
    more = next
  }
  await w.pass(5)
  expect(w.alarms).toEqual([])
})

test('machines of others in the team are not ours to judge', async () => {
  const w = await start()
  await w.rentPast.hotaisle('vm-mi300x-1', 'training, ask Eve')
  await w.pass(20)
  expect(w.alarms).toEqual([])
})
