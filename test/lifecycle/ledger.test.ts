import { describe, expect, test } from 'vitest'
import { instanceView } from '../../lib/http/instance-view.ts'
import type { Instance } from '../../lib/model/instance.ts'
import { bareMetal, longWorldSuite, minute, vm } from '../support/world-suite.ts'

const world = longWorldSuite()
const second = 1000
const busy = ({ status }: Instance) => status === 'busy'
const terminated = ({ status }: Instance) => status === 'terminated'

const ociWorld = async () => {
  const w = await world({ oci: true })
  const { oci } = w
  if (!oci) throw new Error('this world has no OCI')
  return { ...w, oracle: oci.cloud }
}
type OciWorld = Awaited<ReturnType<typeof ociWorld>>

/** What Berth says that an instance has cost, and what its cloud has charged, in cents. */
const figures = async (w: OciWorld, id: string) => {
  const now = w.clock.now()
  const record = await w.show(id)
  const { cloudId, mark } = record.machine ?? {}
  const charged =
    record.backend === 'oci'
      ? w.oracle.ledger().filter(({ instanceId }) => instanceId === cloudId)
      : w.cloud.ledger().filter(({ description }) => description === mark)
  expect(charged).toHaveLength(1)
  return {
    berth: Math.round(instanceView(record, now).accruedCost * 100),
    cloud: charged[0]?.chargedCents(now),
  }
}

const holds = async (w: OciWorld, id: string): Promise<number> => {
  const { berth, cloud } = await figures(w, id)
  expect(berth).toBe(cloud)
  return berth
}

const oddly = (w: OciWorld) => w.clock.advance(17 * second + 301)

describe('what Berth counts is what the cloud charges, to the cent,', () => {
  test.each([
    ['a VM of Hot Aisle', vm, 25],
    ['a VM of Hot Aisle with an hour as its minimum', { gpu: 'MI300X:2' }, 75],
    ['bare metal of Hot Aisle', bareMetal, 490],
    ['a VM of OCI', { instanceTypes: ['VM.GPU.A10.1'], spotPolicy: 'on-demand' }, 25],
    ['a preemptible VM of OCI', { instanceTypes: ['VM.GPU3.1'], spotPolicy: 'spot' }, 25],
    ['bare metal of OCI at a price with fractions of a cent', { instanceTypes: ['BM.Standard.E4.128'] }, 75],
    ['bare metal of OCI', { instanceTypes: ['BM.GPU.H100.8'] }, 75],
  ])('for %s: as it runs, given back at once, and after a while', async (_, wanted, later) => {
    const w = await ociWorld()
    for (const minutes of [0, later]) {
      const { id } = await w.rent({ ...wanted, reuse: false, hold: '30d' })
      await w.runUntil(id, busy, 120)
      oddly(w)
      await holds(w, id)
      await w.run(minutes)
      oddly(w)
      const running = await holds(w, id)
      await w.remove(id, true)
      await w.runUntil(id, terminated, 120)
      expect(await holds(w, id)).toBeGreaterThanOrEqual(running)
      w.clock.advance(700 * minute)
      await holds(w, id)
    }
  })

  test('for bare metal that waits for the end of its prepaid time', async () => {
    const w = await ociWorld()
    const { id } = await w.rent(bareMetal)
    await w.runUntil(id, busy, 70)
    await w.remove(id)
    await w.runUntil(id, terminated)
    expect(await holds(w, id)).toBeGreaterThanOrEqual(21_696)
  })

  test('for a machine of OCI that is given back while it boots, which is nothing', async () => {
    const w = await ociWorld()
    const { id } = await w.rent({ instanceTypes: ['BM.GPU.H100.8'] })
    await w.runUntil(id, ({ machine }) => machine !== undefined)
    await w.remove(id)
    await w.runUntil(id, terminated, 60)
    expect(await holds(w, id)).toBe(0)
  })

  test.each([
    ['Hot Aisle', vm, (w: OciWorld) => w.cloud.faults.once('POST virtual_machines', { kind: 'lost_answer' })],
    ['OCI', { gpu: 'A10' }, (w: OciWorld) => w.oracle.faults.once('launchInstance', { kind: 'lost_answer' })],
  ])('for a machine of %s whose launch lost its answer', async (_, wanted, lose) => {
    const w = await ociWorld()
    lose(w)
    const { id } = await w.rent(wanted)
    await w.runUntil(id, busy, 60)
    await w.run(30)
    await w.remove(id)
    await w.runUntil(id, terminated, 60)
    await holds(w, id)
  })
})

describe('where no call of ours ended the rental, Berth counts to the look at which it was gone:', () => {
  /** One that is held is looked at every five minutes; the first look may see it on its way out. */
  const lookMs = 6 * minute

  test('a preemptible machine that OCI took back', async () => {
    const w = await ociWorld()
    const { id } = await w.rent({ instanceTypes: ['VM.GPU3.1'], spotPolicy: 'spot', hold: '1d' })
    const { machine } = await w.runUntil(id, busy, 30)
    await w.run(95)
    oddly(w)
    await w.oracle.preempt(machine?.cloudId ?? '')
    const gone = await w.runUntil(id, terminated, 60)
    expect(gone.terminationReason).toBe('interrupted')
    const { berth, cloud = 0 } = await figures(w, id)
    expect(berth).toBeGreaterThanOrEqual(cloud)
    expect(berth - cloud).toBeLessThanOrEqual(Math.ceil((147.5 * lookMs) / 3_600_000))
  })
})
