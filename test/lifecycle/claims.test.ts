import { describe, expect, test } from 'vitest'
import { afterLook } from '../../lib/lifecycle/idle-rule.ts'
import { longWorldSuite, minute, vm } from '../support/world-suite.ts'

const world = longWorldSuite()

/** Two GPUs: the smallest machine whose minimum, an hour, outlasts an idle duration. */
const reserved = { gpu: 'MI300X:2' }
const alicesKey = 'ssh-ed25519 AAAAC3Nz alice'
const bobsKey = 'ssh-ed25519 AAAAC3Nz bob'
const laptopsKey = 'ssh-ed25519 AAAAC3Nz bobs-laptop'

describe('a claimed machine', () => {
  test('is not given to another request while its renter is on the way', async () => {
    const w = await world()
    const first = await w.rent(vm)
    await w.runUntil(first.id, ({ status }) => status === 'busy')
    const second = await w.rent(vm, { name: 'bob' })
    expect(second.id).not.toBe(first.id)
    expect(second.status).toBe('pending')
    await w.run(9)
    expect(await w.show(first.id)).toMatchObject({ status: 'busy', claim: { holder: 'alice' } })
  })

  test.each([
    ['a running task', { runningTasks: 1, sshSessions: 0 }],
    ['an open SSH session', { runningTasks: 0, sshSessions: 1 }],
    ['a busy GPU', { runningTasks: 0, sshSessions: 0, gpuPercent: 80 }],
  ])('is kept by %s whatever its idle duration, and lapses after that has ended', async (_, working) => {
    const w = await world()
    const { id } = await w.rent({ ...vm, idleDuration: '1m' })
    await w.runUntil(id, ({ status }) => status === 'busy')
    const guest = await w.guest(id)
    guest.activity = working
    await w.run(20)
    expect(await w.show(id)).toMatchObject({ status: 'busy', claim: { active: true } })

    guest.activity = { runningTasks: 0, sshSessions: 0 }
    const endedAt = w.clock.now()
    const gone = await w.runUntil(id, ({ status }) => status === 'terminated', 10)
    expect(gone.terminationReason).toBe('idle_timeout')
    expect(gone.idleSince).toBeGreaterThanOrEqual(endedAt - minute)
    expect(gone.idleSince).toBeLessThanOrEqual(endedAt)
  })

  test('with idle_duration off is never ended by idleness', async () => {
    const w = await world()
    const { id } = await w.rent({ ...vm, idleDuration: 'off' })
    await w.runUntil(id, ({ status }) => status === 'busy')
    await w.run(60)
    expect(await w.show(id)).toMatchObject({ status: 'busy' })
    await w.release(id)
    await w.run(60)
    expect(await w.show(id)).toMatchObject({ status: 'idle' })
  })

  test('with idle_duration 0 ends as soon as the work has ended, and not before it began', async () => {
    const w = await world()
    const { id } = await w.rent({ ...vm, idleDuration: 0 })
    await w.runUntil(id, ({ status }) => status === 'busy')
    await w.run(9)
    expect((await w.show(id)).status).toBe('busy')
    const guest = await w.guest(id)
    guest.activity = { runningTasks: 1, sshSessions: 0 }
    await w.run(30)
    guest.activity = { runningTasks: 0, sshSessions: 0 }
    await w.runUntil(id, ({ status }) => status === 'terminating', 3)
  })

  test('is held for as long as was asked, with nothing on it', async () => {
    const w = await world()
    const { id } = await w.rent({ ...vm, hold: '1h' })
    await w.runUntil(id, ({ status }) => status === 'busy')
    await w.run(57)
    expect((await w.show(id)).status).toBe('busy')
    await w.runUntil(id, ({ status }) => status === 'terminated', 30)
  })

  test('can be released before it is ready, and is then unclaimed when it is', async () => {
    const w = await world()
    const { id } = await w.rent(reserved)
    await w.release(id)
    const ready = await w.runUntil(id, ({ status }) => status === 'idle')
    expect(ready.claim).toBeUndefined()
  })

  test('is released by its holder alone', async () => {
    const w = await world()
    const { id } = await w.rent(vm)
    await w.runUntil(id, ({ status }) => status === 'busy')
    await expect(w.release(id, 'bob')).rejects.toMatchObject({ code: 'not_claimed' })
    await expect(w.claim(id, 'bob')).rejects.toMatchObject({ code: 'not_claimable' })
  })
})

describe('a machine whose agent stops answering', () => {
  test('is not idle but unreachable, and ends for that reason after 20 minutes', async () => {
    const w = await world()
    const { id } = await w.rent({ ...vm, idleDuration: '1m' })
    await w.runUntil(id, ({ status }) => status === 'busy')
    ;(await w.guest(id)).agent = 'silent'
    await w.run(18)
    expect((await w.show(id)).status).toBe('busy')
    const gone = await w.runUntil(id, ({ status }) => status === 'terminated', 10)
    expect(gone.terminationReason).toBe('unreachable')
  })

  test('is not offered to the next request', async () => {
    const w = await world()
    const { id } = await w.rent({ ...reserved, claim: false })
    await w.runUntil(id, ({ status }) => status === 'idle')
    ;(await w.guest(id)).agent = 'silent'
    await w.runUntil(id, ({ unreachableSince }) => unreachableSince !== undefined)
    const next = await w.rent(reserved)
    expect(next.id).not.toBe(id)
  })
})

describe('an idle machine', () => {
  const idleMachine = async (terms: object = {}) => {
    const w = await world()
    const { id } = await w.rent({ ...reserved, claim: false, ...terms })
    await w.runUntil(id, ({ status }) => status === 'idle')
    return { w, id }
  }

  test('goes to one of two requests at the same moment, and the other goes on to the next offer', async () => {
    const { w, id } = await idleMachine()
    const both = await Promise.all([w.rent(reserved, { name: 'alice' }), w.rent(reserved, { name: 'bob' })])
    expect(both.filter((instance) => instance.id === id)).toHaveLength(1)
    const [other] = both.filter((instance) => instance.id !== id)
    expect(other?.status).toBe('pending')
    await w.runUntil(other?.id ?? '', ({ status }) => status === 'busy')
    expect(w.rentals()).toHaveLength(2)
  })

  test('of two claims one wins', async () => {
    const { w, id } = await idleMachine()
    const results = await Promise.allSettled([w.claim(id, 'alice'), w.claim(id, 'bob')])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('that fits is taken before a new one is rented, under the terms of the new request', async () => {
    const { w, id } = await idleMachine()
    const taken = await w.rent({ ...reserved, idleDuration: '1h', sshKeys: [bobsKey] }, { name: 'bob' })
    expect(taken).toMatchObject({ id, status: 'busy', claim: { holder: 'bob' }, idleDuration: 60 * minute })
    await w.run(2)
    expect((await w.guest(id)).keys).toEqual([bobsKey])
    await w.release(id, 'bob')
    await w.run(2)
    expect((await w.guest(id)).keys).toEqual([])
  })

  test('that is claimed by its id lets in the keys of the claim, and of a later one of the same holder too', async () => {
    const { w, id } = await idleMachine()
    await w.claim(id, 'bob', undefined, [bobsKey])
    await w.run(2)
    expect((await w.guest(id)).keys).toEqual([bobsKey])
    await w.claim(id, 'bob', 60 * minute, [bobsKey, laptopsKey])
    await w.run(2)
    expect((await w.guest(id)).keys).toEqual([bobsKey, laptopsKey])
    await w.claim(id, 'bob', 120 * minute)
    await w.run(2)
    expect((await w.guest(id)).keys).toEqual([bobsKey, laptopsKey])
    await w.release(id, 'bob')
    await w.run(2)
    expect((await w.guest(id)).keys).toEqual([])
  })

  test('that was rented unclaimed lets in who asked for it, who may claim it without giving the keys again', async () => {
    const { w, id } = await idleMachine({ sshKeys: [alicesKey] })
    await w.claim(id, 'alice')
    await w.run(2)
    expect((await w.guest(id)).keys).toEqual([alicesKey])
  })

  test('that was rented unclaimed shuts out who asked for it when somebody else claims it', async () => {
    const { w, id } = await idleMachine({ sshKeys: [alicesKey] })
    await w.claim(id, 'bob')
    await w.run(2)
    expect((await w.guest(id)).keys).toEqual([])
  })

  test('takes 16 keys at most, over all claims of its holder', async () => {
    const { w, id } = await idleMachine()
    const keys = Array.from({ length: 16 }, (_, n) => `ssh-ed25519 AAAAC3Nz key-${n}`)
    await w.claim(id, 'bob', undefined, keys)
    await expect(w.claim(id, 'bob', undefined, [bobsKey])).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('16'),
    })
  })

  test.each([
    ['it does not fit', { gpu: 'MI300X:8' }],
    ['it costs too much', { ...reserved, maxPrice: 3.97 }],
    ['reuse is not wanted', { ...reserved, reuse: false }],
    ['only another type will do', { ...reserved, instanceTypes: ['bm-mi300x-8'] }],
  ])('is left alone when %s', async (_, body) => {
    const { w, id } = await idleMachine()
    const other = await w.rent(body)
    expect(other.id).not.toBe(id)
    expect((await w.show(id)).status).toBe('idle')
  })

  test('that is prepaid is taken before one that is not', async () => {
    const { w, id } = await idleMachine()
    await w.claim(id, 'alice', 180 * minute)
    await w.run(70)
    const fresh = await w.rent({ ...reserved, claim: false, reuse: false })
    await w.runUntil(fresh.id, ({ status }) => status === 'idle')
    await w.release(id)
    const taken = await w.rent(reserved, { name: 'bob' })
    expect(taken.id).toBe(fresh.id)
  })

  test.each(['claim', 'check'] as const)(
    'a claim and the end of its idle time never both win (%s first)',
    async (first) => {
      const { w, id } = await idleMachine()
      const { reservation } = await w.show(id)
      await w.run(((reservation?.until ?? 0) - w.clock.now()) / minute - 1)
      const before = await w.show(id)
      w.clock.advance(10 * minute)
      const now = w.clock.now()
      const idleEnds = () =>
        w.ctx.store.update(
          before,
          afterLook(before, { seen: { runningTasks: 0, sshSessions: 0 } }, now, w.ctx.settings.idle),
        )
      const claim = () => w.claim(id, 'bob').catch(() => undefined)
      const [ended, claimed] =
        first === 'check'
          ? [await idleEnds(), await claim()]
          : await Promise.resolve(claim()).then(async (done) => [await idleEnds(), done] as const)
      const winners = [ended?.status === 'terminating', claimed?.status === 'busy'].filter(Boolean)
      expect(winners).toHaveLength(1)
      expect((await w.show(id)).status).toBe(first === 'check' ? 'terminating' : 'busy')
    },
  )
})
