import { expect, test } from 'vitest'
import type { Context } from '../../lib/context.ts'
import { instanceView } from '../../lib/http/instance-view.ts'
import { bootstrap } from '../../lib/lifecycle/bootstrap.ts'
import { check } from '../../lib/lifecycle/check.ts'
import { type ShimSession, ShimUnreachable } from '../../lib/shim/shim.ts'
import type { World } from '../support/world.ts'
import { bareMetal, longWorldSuite, minute, vm } from '../support/world-suite.ts'

const world = longWorldSuite()
const reserved = { gpu: 'MI300X:2' }
const alicesKey = 'ssh-ed25519 AAAAC3Nz alice'
const bobsKey = 'ssh-ed25519 AAAAC3Nz bob'

const withSession = (w: World, change: (session: ShimSession) => Partial<ShimSession>) => {
  const { connect } = w.shim
  w.ctx.shim = {
    connect: async (target) => {
      const session = await connect(target)
      return { ...session, ...change(session) }
    },
  }
}

test('a reused machine has the whole max_duration of its new request', async () => {
  const w = await world()
  const { id } = await w.rent(bareMetal)
  await w.runUntil(id, ({ status }) => status === 'busy')
  await w.release(id)
  await w.run(120)
  const taken = await w.rent({ ...bareMetal, maxDuration: '1h' }, { name: 'bob' })
  expect(taken.id).toBe(id)
  ;(await w.guest(id)).activity = { runningTasks: 1, sshSessions: 0 }
  await w.run(10)
  expect(await w.show(id)).toMatchObject({ status: 'busy', claim: { holder: 'bob' } })
})

test('a machine known to lack a GPU is not given to a request that enforces the hardware', async () => {
  const w = await world()
  w.cloud.faults.nextMachine({ gpuCount: 7 })
  const { id } = await w.rent({ ...bareMetal, hardwareCheck: 'warn' })
  await w.runUntil(id, ({ status }) => status === 'busy', 60)
  await w.release(id)
  const second = await w.rent(bareMetal, { name: 'bob' })
  expect(second.id).not.toBe(id)
})

test('a machine that the cloud refuses to take back for hours after its minimum raises the alarm', async () => {
  const w = await world()
  const { id } = await w.rent(bareMetal)
  await w.runUntil(id, ({ status }) => status === 'busy', 60)
  w.cloud.faults.always('DELETE bare_metal/{server}', { kind: 'status', status: 400, body: 'Bad Request' })
  await w.remove(id)
  await w.run(12 * 60)
  expect(w.said.join()).toContain('ReleaseOverdue')
})

test('the keys of a renter who released before it was ready are not on the idle machine', async () => {
  const w = await world()
  const { id } = await w.rent({ ...reserved, sshKeys: [alicesKey] })
  await w.release(id)
  await w.runUntil(id, ({ status }) => status === 'idle')
  await w.claim(id, 'bob')
  await w.run(3)
  expect((await w.guest(id)).keys).toEqual([])
})

test('an old check that writes the keys late does not take those of the next renter', async () => {
  const w = await world()
  const { id } = await w.rent({ ...reserved, sshKeys: [alicesKey] })
  await w.runUntil(id, ({ status }) => status === 'busy')
  await w.release(id)
  let go = () => {}
  const gate = new Promise<void>((resolve) => (go = resolve))
  let reached = () => {}
  const there = new Promise<void>((resolve) => (reached = resolve))
  const slow: Context = {
    ...w.ctx,
    shim: {
      connect: async (target) => {
        const session = await w.shim.connect(target)
        return {
          ...session,
          authorizeKeys: async (keys) => {
            reached()
            await gate
            await session.authorizeKeys(keys)
          },
        }
      },
    },
  }
  const old = check(slow, id)
  await there
  const taken = await w.rent({ ...reserved, sshKeys: [bobsKey] }, { name: 'bob' })
  expect(taken.id).toBe(id)
  await check(w.ctx, id)
  expect((await w.guest(id)).keys).toEqual([bobsKey])
  go()
  await old
  await w.run(5)
  expect((await w.guest(id)).keys).toEqual([bobsKey])
})

test('keys that come while those before them are written are written, too', async () => {
  const w = await world()
  const { id } = await w.rent({ ...reserved, claim: false })
  await w.runUntil(id, ({ status }) => status === 'idle')
  let another: (() => Promise<unknown>) | undefined = () => w.claim(id, 'bob', undefined, [alicesKey])
  withSession(w, (session) => ({
    authorizeKeys: async (keys) => {
      await session.authorizeKeys(keys)
      const claims = another
      another = undefined
      await claims?.()
    },
  }))
  await w.claim(id, 'bob', undefined, [bobsKey])
  await w.run(3)
  expect((await w.guest(id)).keys).toEqual([bobsKey, alicesKey])
})

test('a machine at work is not ended because its keys cannot be written', async () => {
  const w = await world()
  const { id } = await w.rent({ ...bareMetal, claim: false })
  await w.runUntil(id, ({ status }) => status === 'idle')
  withSession(w, () => ({
    authorizeKeys: async () => {
      throw new ShimUnreachable('unreachable', 'the SSH keys could not be written: no space left on device')
    },
  }))
  await w.rent({ ...bareMetal, sshKeys: [bobsKey] }, { name: 'bob' })
  ;(await w.guest(id)).activity = { runningTasks: 3, sshSessions: 0 }
  await w.run(30)
  expect((await w.show(id)).status).toBe('busy')
})

test('a machine that came up in time is taken into service although nobody looked until after the deadline', async () => {
  const w = await world()
  const { id } = await w.rent(bareMetal)
  await w.runUntil(id, ({ phase }) => phase === 'booting')
  w.clock.advance(61 * minute)
  await bootstrap(w.ctx, id)
  expect((await w.show(id)).status).toBe('busy')
})

test('an agent that is gone again before the check of the hardware is started anew', async () => {
  const w = await world()
  const { id } = await w.rent(bareMetal)
  let broken = true
  withSession(w, (session) => ({
    hardware: async () => {
      if (broken) throw new ShimUnreachable('unreachable', 'timed out')
      return session.hardware()
    },
  }))
  await w.runUntil(id, ({ phase }) => phase === 'verifying', 50)
  ;(await w.guest(id)).agent = 'absent'
  broken = false
  await w.runUntil(id, ({ status }) => status === 'busy' || status === 'terminating', 120)
  expect((await w.show(id)).status).toBe('busy')
})

test('max_duration ends a machine although each look at it throws', async () => {
  const w = await world()
  const { id } = await w.rent({ ...vm, maxDuration: '30m' })
  await w.runUntil(id, ({ status }) => status === 'busy')
  withSession(w, () => ({
    activity: async () => {
      throw new TypeError('unexpected')
    },
  }))
  w.clock.advance(60 * minute)
  await check(w.ctx, id).catch(() => {})
  expect((await w.show(id)).status).toBe('terminating')
})

test('two failed looks with a long silence between them do not prove 20 minutes unreachable', async () => {
  const w = await world()
  const { id } = await w.rent(bareMetal)
  await w.runUntil(id, ({ status }) => status === 'busy')
  const guest = await w.guest(id)
  guest.activity = { runningTasks: 1, sshSessions: 0 }
  guest.agent = 'silent'
  await w.runUntil(id, ({ unreachableSince }) => unreachableSince !== undefined)
  guest.agent = 'up'
  w.clock.advance(60 * minute) // Berth was off
  guest.agent = 'silent'
  await check(w.ctx, id)
  expect((await w.show(id)).status).toBe('busy')
})

test('money runs on while a cloud that agreed has not taken the machine back', async () => {
  const w = await world()
  const { id } = await w.rent(vm)
  await w.runUntil(id, ({ status }) => status === 'busy')
  w.ctx.backends = w.ctx.backends.map((backend) => ({
    ...backend,
    release: async () => ({ outcome: 'accepted' as const }),
  }))
  await w.remove(id)
  await w.run(60)
  const early = instanceView(await w.show(id), w.clock.now()).accruedCost
  await w.run(60)
  expect(instanceView(await w.show(id), w.clock.now()).accruedCost).toBeGreaterThan(early)
})

test('a lost prepaid machine is terminated when the cloud shows that it is gone', async () => {
  const w = await world()
  const { id } = await w.rent(bareMetal)
  await w.runUntil(id, ({ status }) => status === 'busy')
  const url = `${w.cloud.url}/teams/${w.cloud.team}/bare_metal/${w.rentals()[0]?.name}/?force=true`
  await fetch(url, { method: 'DELETE', headers: { authorization: `Token ${w.cloud.apiKey}` } })
  await w.run(30)
  expect((await w.show(id)).status).toBe('terminated')
})

test('a hold counts from when the machine is ready', async () => {
  const w = await world()
  w.cloud.faults.nextMachine({ bootMs: 45 * minute })
  const { id } = await w.rent({ ...bareMetal, hold: '1h' })
  const ready = await w.runUntil(id, ({ status }) => status === 'busy', 70)
  expect((ready.claim?.holdUntil ?? 0) - w.clock.now()).toBeGreaterThan(55 * minute)
})

test('a tool that is no longer in the settings does not keep max_duration from being written down', async () => {
  const w = await world()
  const { id } = await w.rent({ ...vm, maxDuration: '30m' })
  await w.runUntil(id, ({ status }) => status === 'busy')
  ;(await w.guest(id)).agent = 'silent'
  const gone: Context = { ...w.ctx, backends: [] }
  w.clock.advance(60 * minute)
  await check(gone, id).catch(() => {})
  expect((await w.show(id)).status).toBe('terminating')
})
