import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Backend, MachineRef, Rental } from '../../lib/backends/backend.ts'
import type { Intent } from '../../lib/model/intent.ts'
import { type Offer, offer as offerSchema } from '../../lib/model/offer.ts'
import type { ManualClock } from '../fakes/manual-clock.ts'

/** One account of a simulated cloud, and the backend that rents from it. */
export type Stage = {
  backend: Backend
  clock: ManualClock
  /** The offer that the suite is to rent. */
  choose(offers: Offer[]): Offer | undefined
  /** Longer than such a machine takes to boot, in milliseconds. */
  bootMs: number
  /** Longer than it takes to vanish once it was given back. */
  resetMs: number
  /** After so long, a launch that nothing came of is known to have failed. */
  settleMs: number
  /** Whether it is refused to give such a machine back at once. */
  hasMinimum: boolean
  /** The machines that the cloud itself charges for. */
  charged(): number
  /** Paid calls that reached the cloud. */
  paidCalls(): number
  /** The next launch is done, and its answer lost. */
  loseLaunchAnswer(): void
  /** The next launch never arrives. */
  cutLaunch(): void
  /** Listings fail until `heal`. */
  failListings(): void
  /** Everything answers that the credentials are bad, until `heal`. */
  spoilCredentials(): void
  heal(): void
  stop(): Promise<void>
}

/** What holds for every backend. Each runs this against its own cloud, simulated, over real HTTP. */
export const testBackend = (name: string, setUp: () => Promise<Stage>): void => {
  describe(`${name}, as every backend`, () => {
    let stage: Stage
    let backend: Backend
    beforeEach(async () => {
      stage = await setUp()
      backend = stage.backend
    })
    afterEach(() => stage.stop())

    const chosen = async (): Promise<Offer> => {
      const { offers } = await backend.offers({})
      const offer = stage.choose(offers)
      if (!offer) throw new Error(`the offer to rent is not among ${offers.map(({ id }) => id).join(', ')}`)
      return offer
    }

    const intend = async (attempt = 1): Promise<Rental> => {
      const offer = await chosen()
      const prepared = await backend.prepare(offer)
      if ('failed' in prepared) throw new Error(`the launch could not be prepared: ${prepared.failed}`)
      const intent: Intent = {
        attempt,
        offerId: offer.id,
        mark: `berth-test-instance-${attempt}`,
        token: `token-${attempt}`,
        ...prepared,
        payload: offer.payload,
        writtenAt: stage.clock.now(),
      }
      return { intent, region: offer.region, zone: offer.zones[0], instanceType: offer.instanceType }
    }

    const rent = async (attempt = 1): Promise<MachineRef> => {
      const rental = await intend(attempt)
      const outcome = await backend.launch(rental)
      if (outcome.outcome !== 'launched') throw new Error(`not launched: ${outcome.message}`)
      const { region, instanceType, intent } = rental
      return { region, instanceType, mark: intent.mark, ...outcome.machine }
    }

    it('finds its credentials good', async () => {
      expect(await backend.check()).toEqual({ ok: true })
    })

    it('finds bad credentials bad, and says what to do', async () => {
      stage.spoilCredentials()
      const check = await backend.check()
      expect(check).toMatchObject({ ok: false, state: 'bad', message: expect.stringMatching(/\w{10}|key/) })
    })

    it('lists offers that are whole, each under its own name, the same each time', async () => {
      const { offers, errors } = await backend.offers({})
      expect(errors).toEqual([])
      expect(offers.length).toBeGreaterThan(0)
      for (const offer of offers) expect(offerSchema.parse(offer)).toEqual(offer)
      expect(new Set(offers.map(({ id }) => id)).size).toBe(offers.length)
      expect((await backend.offers({})).offers).toEqual(offers)
    })

    it('answers with errors, not with an exception, when offers cannot be had', async () => {
      stage.spoilCredentials()
      const { offers, errors } = await backend.offers({})
      expect(offers).toEqual([])
      expect(errors.length).toBeGreaterThan(0)
    })

    it('rents one machine by one paid call, and brings it to an address', async () => {
      const ref = await rent()
      expect(stage.paidCalls()).toBe(1)
      expect(stage.charged()).toBe(1)
      expect(await backend.state(ref)).toMatchObject({ state: 'starting' })
      stage.clock.advance(stage.bootMs)
      expect(await backend.state(ref)).toMatchObject({
        state: 'running',
        address: {
          hostname: expect.stringMatching(/^127\./),
          port: expect.any(Number),
          username: expect.any(String),
        },
      })
    })

    it('finds a machine that it rented', async () => {
      const rental = await intend()
      const launched = await backend.launch(rental)
      const found = await backend.find(rental)
      expect(found).toMatchObject({ outcome: 'found' })
      if (launched.outcome !== 'launched' || found.outcome !== 'found') throw new Error('not launched')
      expect(found.machine).toEqual(launched.machine)
    })

    it('finds the machine of a launch whose answer was lost, however often it looks, and pays once', async () => {
      const rental = await intend()
      stage.loseLaunchAnswer()
      expect(await backend.launch(rental)).toMatchObject({ outcome: 'unknown' })
      const first = await backend.find(rental)
      const second = await backend.find(rental)
      expect(first).toMatchObject({ outcome: 'found' })
      expect(second).toEqual(first)
      expect(stage.paidCalls()).toBe(1)
      expect(stage.charged()).toBe(1)
    })

    it('does not take the machine of another launch for its own', async () => {
      await rent(1)
      const rental = await intend(2)
      stage.cutLaunch()
      await backend.launch(rental)
      expect(await backend.find(rental)).not.toMatchObject({ outcome: 'found' })
    })

    it('says that a launch came to nothing only when that has settled', async () => {
      const rental = await intend()
      stage.cutLaunch()
      expect(await backend.launch(rental)).toMatchObject({ outcome: 'unknown' })
      stage.clock.advance(stage.settleMs)
      expect(await backend.find(rental)).toEqual({ outcome: 'absent' })
      expect(stage.charged()).toBe(0)
    })

    it('says nothing about a launch while listings fail', async () => {
      const rental = await intend()
      stage.loseLaunchAnswer()
      await backend.launch(rental)
      stage.failListings()
      stage.clock.advance(stage.settleMs)
      expect(await backend.find(rental)).toMatchObject({ outcome: 'unclear' })
      stage.heal()
      expect(await backend.find(rental)).toMatchObject({ outcome: 'found' })
    })

    it('refuses to give a prepaid machine back early, unless forced to', async () => {
      const ref = await rent()
      if (stage.hasMinimum) {
        expect(await backend.release(ref, { force: false })).toMatchObject({ outcome: 'too_early' })
        expect(stage.charged()).toBe(1)
      }
      const accepted = { outcome: 'accepted' }
      // With the moment of the call where that is the end of the bill.
      expect([accepted, { ...accepted, at: stage.clock.now() }]).toContainEqual(
        await backend.release(ref, { force: true }),
      )
      stage.clock.advance(stage.resetMs)
      expect(stage.charged()).toBe(0)
    })

    it('shows a machine as gone once it is, and not before', async () => {
      const ref = await rent()
      await backend.release(ref, { force: true })
      expect(await backend.state(ref)).not.toMatchObject({ state: 'gone' })
      stage.clock.advance(stage.resetMs)
      expect(await backend.state(ref)).toEqual({ state: 'gone', interrupted: false })
      expect(await backend.release(ref, { force: false })).toEqual({ outcome: 'gone' })
    })

    it('never calls a machine gone while the credentials are bad', async () => {
      const ref = await rent()
      stage.spoilCredentials()
      expect(await backend.state(ref)).toMatchObject({ state: 'unknown' })
      expect(await backend.release(ref, { force: true })).toMatchObject({ outcome: 'retry' })
      expect((await backend.owned()).complete).toBe(false)
      stage.heal()
      expect(await backend.state(ref)).toMatchObject({ state: 'starting' })
    })

    it('launches nothing with bad credentials', async () => {
      const rental = await intend()
      stage.spoilCredentials()
      expect(await backend.launch(rental)).toMatchObject({ outcome: 'rejected', code: 'bad_credentials' })
      expect(stage.charged()).toBe(0)
    })

    it('lists nothing, in full, where there is nothing', async () => {
      expect(await backend.owned()).toEqual({ complete: true, machines: [] })
    })

    it('lists what it rented', async () => {
      const ref = await rent()
      const { complete, machines } = await backend.owned()
      expect(complete).toBe(true)
      expect(machines).toMatchObject([
        { cloudId: ref.cloudId, instanceType: ref.instanceType, region: ref.region },
      ])
    })

    it('does not call a listing complete that failed', async () => {
      await rent()
      stage.failListings()
      expect((await backend.owned()).complete).toBe(false)
    })
  })
}
