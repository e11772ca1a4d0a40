import { describe, expect, test } from 'vitest'
import { bareMetal, longWorldSuite, minute, vm } from '../support/world-suite.ts'

const world = longWorldSuite()

const ready = async (body: object) => {
  const w = await world()
  const { id } = await w.rent(body)
  await w.runUntil(id, ({ status }) => status === 'busy', 70)
  return { w, id }
}

describe('a machine that is deleted inside its prepaid time', () => {
  test('is on its way out at once, and given back when the time is over, without force', async () => {
    const { w, id } = await ready(bareMetal)
    const deleted = await w.remove(id)
    expect(deleted).toMatchObject({ status: 'terminating', releaseAt: deleted.reservation?.until })
    await w.run(60)
    expect(w.requestsTo('DELETE bare_metal/{server}')).toEqual([])
    const gone = await w.runUntil(id, ({ status }) => status === 'terminated')
    expect(gone.reservation?.state).toBe('released')
    expect(gone.releasedAt).toBeGreaterThanOrEqual(gone.reservation?.until ?? Number.POSITIVE_INFINITY)
  })

  test('is given back at once by force, and that is forfeited', async () => {
    const { w, id } = await ready(bareMetal)
    await w.remove(id, true)
    const gone = await w.runUntil(id, ({ status }) => status === 'terminated', 30)
    expect(gone.reservation?.state).toBe('forfeited')
    expect(w.stillRented()).toEqual([])
    expect(w.rentals()[0]?.chargedCents(w.clock.now())).toBe(21_696)
  })

  test('can be forced later', async () => {
    const { w, id } = await ready(bareMetal)
    await w.remove(id)
    await w.run(30)
    await w.remove(id, true)
    await w.runUntil(id, ({ status }) => status === 'terminated', 30)
    expect(w.stillRented()).toEqual([])
  })

  test('whose clock the cloud reads differently: refused, asked again, then gone, never by force', async () => {
    const { w, id } = await ready(bareMetal)
    w.cloud.faults.once('DELETE bare_metal/{server}', { kind: 'status', status: 400, body: 'minimum usage' })
    w.cloud.faults.once('DELETE bare_metal/{server}', { kind: 'status', status: 400, body: 'minimum usage' })
    await w.remove(id)
    const refused = await w.runUntil(id, ({ events }) =>
      events.some(({ message }) => message.includes('minimum')),
    )
    expect(refused.status).toBe('terminating')
    const gone = await w.runUntil(id, ({ status }) => status === 'terminated', 24 * 60)
    expect(w.requestsTo('DELETE bare_metal/{server}')).toHaveLength(3)
    expect(gone.reservation?.state).toBe('released')
    expect(gone.force).toBeUndefined()
  })
})

describe('terminated is written only when the cloud shows it', () => {
  test('a machine that stays is asked for again and again, and told after a quarter of an hour', async () => {
    const { w, id } = await ready(vm)
    w.cloud.faults.always('DELETE virtual_machines/{vm}', { kind: 'status', status: 503 })
    await w.remove(id)
    await w.run(120)
    expect((await w.show(id)).status).toBe('terminating')
    expect(w.said.join()).toContain('ReleaseOverdue')
    expect(w.requestsTo('DELETE virtual_machines/{vm}').length).toBeGreaterThan(20)
    w.cloud.faults.clear()
    await w.runUntil(id, ({ status }) => status === 'terminated', 15)
    expect(w.stillRented()).toEqual([])
  })

  test('a 404 with a key that is bad proves nothing', async () => {
    const { w, id } = await ready(vm)
    w.cloud.faults.always('GET virtual_machines/{vm}', { kind: 'status', status: 404 })
    w.cloud.faults.always('GET user', { kind: 'status', status: 401 })
    await w.remove(id)
    await w.run(60)
    expect((await w.show(id)).status).toBe('terminating')
    w.cloud.faults.clear()
    await w.runUntil(id, ({ status }) => status === 'terminated', 15)
    expect(w.stillRented()).toEqual([])
  })

  test('an answer that is lost leads to a look, not to a belief', async () => {
    const { w, id } = await ready(vm)
    w.cloud.faults.once('DELETE virtual_machines/{vm}', { kind: 'lost_answer' })
    await w.remove(id)
    await w.runUntil(id, ({ status }) => status === 'terminated', 15)
    expect(w.stillRented()).toEqual([])
  })
})

test('deleting twice, or what is gone, changes nothing', async () => {
  const { w, id } = await ready(vm)
  await w.remove(id)
  const again = await w.remove(id)
  await w.runUntil(id, ({ status }) => status === 'terminated')
  const late = await w.remove(id, true)
  expect(again.status).toBe('terminating')
  expect(late).toEqual(await w.show(id))
})

test('what an instance cost is what the cloud charges', async () => {
  const { w, id } = await ready({ ...vm, idleDuration: '5m' })
  const gone = await w.runUntil(id, ({ status }) => status === 'terminated', 600)
  const rental = w.rentals()[0]
  expect(Math.abs((gone.releasedAt ?? 0) - (rental?.endedAt ?? 0))).toBeLessThan(minute)
})
