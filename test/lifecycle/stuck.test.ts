import { describe, expect, test } from 'vitest'
import { sweep } from '../../lib/lifecycle/sweep.ts'
import type { Alarm } from '../../lib/model/alarm.ts'
import { longWorldSuite, minute, vm } from '../support/world-suite.ts'

const world = longWorldSuite()

/** An instance whose hints come to nothing, and what its sweeps do about it: `at` in minutes since it was due. */
const stuckInstance = async ({ isRented = false } = {}) => {
  const w = await world()
  const { id } = await w.rent(vm)
  if (isRented) await w.runUntil(id, ({ status }) => status === 'busy', 15)
  const { nextCheckAt = 0 } = await w.show(id)
  w.clock.advance(nextCheckAt - w.clock.now())
  const at = () => (w.clock.now() - nextCheckAt) / minute
  const hints: number[] = []
  const alarms: { at: number; name: Alarm; message: string; fields: unknown }[] = []
  const ctx = {
    ...w.ctx,
    queues: { ...w.ctx.queues, send: async () => void hints.push(at()) },
    log: {
      ...w.ctx.log,
      alarm: (name: Alarm, message: string, fields: unknown) =>
        void alarms.push({ at: at(), name, message, fields }),
    },
  }
  const sweepAfter = async (minutes: number) => {
    w.clock.advance(minutes * minute)
    return sweep(ctx)
  }
  return { w, id, ctx, hints, alarms, sweepAfter }
}

const gaps = (times: number[]) => times.slice(1).map((time, index) => time - (times[index] ?? 0))

describe('an instance whose step does not get done', () => {
  test('is handed on each minute, then after a quarter of an hour every ten, and a person is told', async () => {
    const { id, hints, alarms, sweepAfter } = await stuckInstance()
    for (let count = 1; count <= 46; count++) expect(await sweepAfter(1)).toEqual({ due: 1 })
    expect(hints).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 26, 36, 46])
    expect(alarms.map((alarm) => alarm.at)).toEqual([16, 26, 36, 46])
    expect(alarms[1]).toMatchObject({
      name: 'StuckInstance',
      message: expect.stringContaining('due for 26 minutes'),
      fields: { instanceId: id, status: 'pending', step: 'provision', minutes: 26 },
    })
    expect(alarms[0]?.message).toContain('nothing is rented for it')
  })

  test('says what its machine costs meanwhile', async () => {
    const { w, id, alarms, sweepAfter } = await stuckInstance({ isRented: true })
    await sweepAfter(16)
    expect(alarms[0]?.message).toContain('its machine costs $1.99 an hour')
    expect(alarms[0]?.fields).toMatchObject({ step: 'check', cloudId: (await w.show(id)).machine?.cloudId })
  })

  test('may have rented something, where its launch is not resolved', async () => {
    const { w, id, alarms, ctx, sweepAfter } = await stuckInstance()
    w.cloud.faults.once('POST virtual_machines', { kind: 'lost_answer' })
    await w.runUntil(id, ({ intent }) => intent !== undefined)
    await sweepAfter(20)
    expect(alarms[0]?.message).toContain('it may have rented a machine')
    expect(ctx.leaseMs).toBe(2 * minute)
  })

  test('is handed on every ten minutes, too, when sweeps come a little early, late, or not at all', async () => {
    const { hints, sweepAfter } = await stuckInstance()
    await sweepAfter(15.5)
    // Seconds by which a sweep differs from its minute, over and over; each seventh is missed.
    const offsets = [0, 9, -8, 3, -9, 9, 0, -5, 8, -9]
    let before = 0
    for (let count = 1; count <= 60; count++) {
      if (count % 7 === 0) continue
      const time = count + (offsets[count % offsets.length] ?? 0) / 60
      await sweepAfter(time - before)
      before = time
    }
    expect(Math.max(...gaps(hints))).toBeLessThanOrEqual(11.5)
    expect(hints.length).toBeLessThanOrEqual(1 + 60 / 9.5)
  })

  test.each([10, 11, 15, 60])(
    'is handed on by every sweep when there is one in %i minutes',
    async (every) => {
      const { hints, sweepAfter } = await stuckInstance()
      for (let count = 1; count <= 5; count++) await sweepAfter(every)
      expect(hints).toHaveLength(5)
    },
  )

  test('is handed on once by two sweeps at a time', async () => {
    const { hints, ctx, w } = await stuckInstance()
    w.clock.advance(20 * minute)
    const later = { ...ctx, clock: { now: () => w.clock.now() + 5 } }
    await Promise.all([sweep(ctx), sweep(later)])
    expect(hints).toHaveLength(1)
  })

  test('is handed on all the same when its pause can not be read', async () => {
    const { hints, alarms, ctx, w } = await stuckInstance()
    w.clock.advance(20 * minute)
    const store = { ...ctx.store, takeLock: () => Promise.reject(new Error('throttled')) }
    for (let count = 0; count < 3; count++) await sweep({ ...ctx, store })
    expect([hints.length, alarms.length]).toEqual([3, 3])
  })

  test('goes on to its end once the fault is over', async () => {
    const { w, id, sweepAfter, alarms } = await stuckInstance()
    await sweepAfter(20)
    expect(alarms).toHaveLength(1)
    await w.runUntil(id, ({ status }) => status === 'busy', 30)
    await sweepAfter(0)
    expect(alarms).toHaveLength(1)
  })
})

test('in a sandbox whose clock runs fast nothing is stuck that some leases have not been enough for', async () => {
  const { w, ctx, alarms } = await stuckInstance()
  const fast = { ...ctx, leaseMs: 60 * minute }
  w.clock.advance(239 * minute)
  await sweep(fast)
  expect(alarms).toEqual([])
  w.clock.advance(2 * minute)
  await sweep(fast)
  expect(alarms).toHaveLength(1)
})
