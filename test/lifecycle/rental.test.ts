import { describe, expect, test } from 'vitest'
import { bareMetal, minute, vm, worldSuite } from '../support/world-suite.ts'

const world = worldSuite()

test('a bare metal server is rented, kept while it is prepaid, used again, and given back without force', async () => {
  const w = await world()

  const { id } = await w.rent(bareMetal)
  const ready = await w.runUntil(id, ({ status }) => status === 'busy', 60)
  const reservedUntil = (ready.startedAt ?? 0) + 480 * minute
  expect(ready).toMatchObject({
    pricePerHourCents: 2712,
    minimumChargeCents: 21_696,
    reservation: { until: reservedUntil, minimumMinutes: 480, chargeCents: 21_696, state: 'active' },
    hardware: { verdict: 'match', differences: [] },
    claim: { holder: 'alice' },
  })

  await w.release(id)
  await w.run(60)
  expect(await w.show(id)).toMatchObject({ status: 'idle' })

  const second = await w.rent(bareMetal, { name: 'bob' })
  expect(second).toMatchObject({ id, status: 'busy', claim: { holder: 'bob' } })
  await w.release(id, 'bob')
  const gone = await w.runUntil(id, ({ status }) => status === 'terminated')

  expect(gone).toMatchObject({ terminationReason: 'idle_timeout', reservation: { state: 'released' } })
  expect(w.clock.now() - reservedUntil).toBeLessThan(10 * minute)
  const [rental, ...others] = w.rentals()
  expect(others).toEqual([])
  expect(rental?.endedAt).toBeGreaterThanOrEqual(reservedUntil)
  expect(rental?.endedAt).toBeLessThan(reservedUntil + 2 * minute)
  expect(w.requestsTo('POST bare_metal')).toHaveLength(1)
})

test('the whole history can be read afterwards', async () => {
  const w = await world()
  const { id } = await w.rent({ ...vm, idleDuration: 0 })
  await w.runUntil(id, ({ status }) => status === 'busy')
  await w.release(id)
  const gone = await w.runUntil(id, ({ status }) => status === 'terminated')
  const history = [...(await w.ctx.store.olderEvents(gone)), ...gone.events]
  const steps = history
    .map(({ status, phase }) => phase ?? status)
    .filter((step, at, all) => step !== all[at - 1])
  expect(steps).toEqual([
    'pending',
    'launching',
    'booting',
    'bootstrapping',
    'verifying',
    'busy',
    'idle',
    'terminating',
    'terminated',
  ])
})

describe('if every hint gets lost, the sweep alone brings', () => {
  test('a rental from its request to its end', async () => {
    const w = await world({ hints: 'lost' })
    const { id } = await w.rent({ ...vm, maxDuration: '30m', idleDuration: 'off' })
    const gone = await w.runUntil(id, ({ status }) => status === 'terminated', 120)
    expect(gone).toMatchObject({ terminationReason: 'max_duration' })
    expect(w.stillRented()).toEqual([])
    expect(w.rentals()).toHaveLength(1)
  })

  test('a request for which there is no offer to its end', async () => {
    const w = await world({ hints: 'lost' })
    const { id } = await w.rent({ gpu: 'H100:8' })
    const gone = await w.runUntil(id, ({ status }) => status === 'terminated', 30)
    expect(gone.terminationReason).toBe('no_offers')
    expect(gone.terminationMessage).toContain('nothing was rented, nothing is charged')
  })
})
