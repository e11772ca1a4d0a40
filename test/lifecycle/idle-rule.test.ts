import { describe, expect, test } from 'vitest'
import { afterLook, nextCheck } from '../../lib/lifecycle/idle-rule.ts'
import type { Activity } from '../../lib/model/activity.ts'
import type { Instance } from '../../lib/model/instance.ts'
import { aBusyInstance, anIdleInstance } from '../support/instances.ts'

const start = Date.parse('2026-03-02T09:00:00Z')
const minute = 60_000
const at = (minutes: number) => start + minutes * minute
const settings = { arrival_grace: 10 * minute, gpu_percent: 5 }
const nothing = { seen: { runningTasks: 0, sshSessions: 0 } }
const seeing = (activity: Partial<Activity>) => ({ seen: { ...nothing.seen, ...activity } })
const reservedFor = (minutes: number) => ({
  reservation: { until: at(minutes), minimumMinutes: minutes, chargeCents: 1, state: 'active' as const },
})

describe('a claim', () => {
  test('lasts through the arrival grace although the idle duration is over', () => {
    const before = afterLook(aBusyInstance(), nothing, at(9.9), settings)
    const after = afterLook(aBusyInstance(), nothing, at(10), settings)
    expect(before.status).toBe('busy')
    expect(after).toMatchObject({ status: 'idle', idleSince: at(0) })
    expect(after.claim).toBeUndefined()
    expect(after.events.at(-1)?.message).toContain('nobody came')
  })

  test.each([
    ['a running task', { runningTasks: 1 }],
    ['an SSH session', { sshSessions: 1 }],
    ['a busy GPU', { gpuPercent: 6 }],
  ])('%s keeps it whatever its idle duration', (_, activity) => {
    const seen = afterLook(aBusyInstance({ idleDuration: 0 }), seeing(activity), at(600), settings)
    expect(seen).toMatchObject({ status: 'busy', lastActivityAt: at(600), claim: { active: true } })
  })

  test('a GPU at the threshold, or one that says nothing, is not activity', () => {
    expect(afterLook(aBusyInstance(), seeing({ gpuPercent: 5 }), at(20), settings).status).toBe('idle')
    expect(afterLook(aBusyInstance(), seeing({ gpuPercent: undefined }), at(20), settings).status).toBe(
      'idle',
    )
  })

  test('lapses one idle duration after the last activity, and the idle time counts from that activity', () => {
    const worked = aBusyInstance({
      lastActivityAt: at(60),
      claim: { holder: 'alice', since: start, active: true },
    })
    expect(afterLook(worked, nothing, at(64.9), settings).status).toBe('busy')
    expect(afterLook(worked, nothing, at(65), settings)).toMatchObject({ status: 'idle', idleSince: at(60) })
  })

  test('with idle_duration 0 lapses at the first look after the work has ended', () => {
    const claim = { holder: 'alice', since: start, active: true }
    const worked = aBusyInstance({ idleDuration: 0, lastActivityAt: at(60), claim })
    expect(afterLook(worked, nothing, at(61), settings)).toMatchObject({ status: 'idle', idleSince: at(60) })
  })

  test('with idle_duration off never lapses', () => {
    expect(afterLook(aBusyInstance({ idleDuration: 'off' }), nothing, at(100_000), settings).status).toBe(
      'busy',
    )
  })

  test('is kept by its hold whatever happens', () => {
    const held = aBusyInstance({ claim: { holder: 'alice', since: start, active: true, holdUntil: at(120) } })
    expect(afterLook(held, nothing, at(119), settings).status).toBe('busy')
    expect(afterLook(held, nothing, at(120), settings).status).toBe('idle')
  })

  test('the keys of its holder leave the machine with it', () => {
    const left = afterLook(aBusyInstance({ sshKeys: ['ssh-ed25519 AAAA'] }), nothing, at(10), settings)
    expect(left).toMatchObject({ sshKeys: [], sshKeysChanged: true })
  })
})

describe('an unclaimed machine', () => {
  test('is given back after the idle duration', () => {
    expect(afterLook(anIdleInstance(), nothing, at(4.9), settings).status).toBe('idle')
    expect(afterLook(anIdleInstance(), nothing, at(5), settings)).toMatchObject({
      status: 'terminating',
      terminationReason: 'idle_timeout',
      releaseAt: at(5),
    })
  })

  test('is kept while it is prepaid, says so once, and goes at the end of it', () => {
    const kept = afterLook(anIdleInstance(reservedFor(480)), nothing, at(6), settings)
    const again = afterLook(kept, nothing, at(11), settings)
    expect(kept).toMatchObject({ status: 'idle' })
    expect(kept.events.at(-1)?.message).toContain('kept: prepaid until 2026-03-02T17:00:00.000Z')
    expect(again.events).toEqual(kept.events)
    expect(afterLook(again, nothing, at(479.9), settings).status).toBe('idle')
    expect(afterLook(again, nothing, at(480), settings).status).toBe('terminating')
  })

  test('that somebody works on is not ended, and its idle time starts when that ends', () => {
    const used = afterLook(anIdleInstance(), seeing({ sshSessions: 1 }), at(30), settings)
    expect(used.status).toBe('idle')
    expect(afterLook(used, nothing, at(34), settings).status).toBe('idle')
    expect(afterLook(used, nothing, at(35), settings).status).toBe('terminating')
  })

  test('with idle_duration off is never ended', () => {
    expect(afterLook(anIdleInstance({ idleDuration: 'off' }), nothing, at(100_000), settings).status).toBe(
      'idle',
    )
  })

  test('with idle_duration 0 goes at once', () => {
    expect(afterLook(anIdleInstance({ idleDuration: 0 }), nothing, at(0), settings).status).toBe(
      'terminating',
    )
  })
})

describe('a machine that cannot be seen', () => {
  const unseen = { unseen: 'connection refused' }

  test('is not idle: nothing lapses and nothing ends by idleness', () => {
    expect(afterLook(aBusyInstance(), unseen, at(100), settings)).toMatchObject({
      status: 'busy',
      unreachableSince: at(100),
      lastActivityAt: at(100),
    })
    expect(afterLook(anIdleInstance(), unseen, at(100), settings).status).toBe('idle')
  })

  /** A look every five minutes, as they come. */
  const unseenFrom = (instance: Instance, from: number, minutes: number) => {
    let seen = instance
    for (let passed = 0; passed <= minutes; passed += 5)
      seen = afterLook(seen, unseen, at(from + passed), settings)
    return seen
  }

  test('ends after 20 minutes of that, for that reason', () => {
    expect(unseenFrom(aBusyInstance(), 100, 15).status).toBe('busy')
    expect(unseenFrom(aBusyInstance(), 100, 20)).toMatchObject({
      status: 'terminating',
      terminationReason: 'unreachable',
    })
  })

  test('at two looks with a long silence between them is not proved to have been so all the time', () => {
    const first = afterLook(aBusyInstance(), unseen, at(100), settings)
    expect(afterLook(first, unseen, at(160), settings)).toMatchObject({
      status: 'busy',
      unreachableSince: at(160),
    })
  })

  test('that comes back starts its idle time anew', () => {
    const lost = afterLook(anIdleInstance(), unseen, at(3), settings)
    const back = afterLook(lost, nothing, at(7), settings)
    expect(back).toMatchObject({ status: 'idle', unreachableSince: undefined })
    expect(afterLook(back, nothing, at(8), settings).status).toBe('terminating')
  })

  test('inside prepaid time is given back only at its end', () => {
    const ended = unseenFrom(anIdleInstance(reservedFor(480)), 10, 20)
    expect(ended).toMatchObject({ status: 'terminating', releaseAt: at(480) })
  })
})

test('max_duration ends a machine whatever it does', () => {
  const used = aBusyInstance({ maxDuration: 60 * minute })
  expect(afterLook(used, seeing({ runningTasks: 3 }), at(59), settings).status).toBe('busy')
  expect(afterLook(used, seeing({ runningTasks: 3 }), at(60), settings)).toMatchObject({
    status: 'terminating',
    terminationReason: 'max_duration',
  })
})

describe('the next look comes', () => {
  test('in a minute by default', () => {
    expect(nextCheck(aBusyInstance(), at(1)).nextCheckAt).toBe(at(2))
  })

  test('at the moment at which the idle duration is over, if that is sooner', () => {
    expect(nextCheck(anIdleInstance(), at(4.5)).nextCheckAt).toBe(at(5))
  })

  test('in five minutes while nothing can end it, and exactly at the end of the prepaid time', () => {
    expect(nextCheck(anIdleInstance(reservedFor(480)), at(20)).nextCheckAt).toBe(at(25))
    expect(nextCheck(anIdleInstance(reservedFor(480)), at(479.5)).nextCheckAt).toBe(at(480))
  })

  test('the sweep looks no later than that, and its time is moved only when it must be', () => {
    const first = nextCheck(anIdleInstance({ sweepAt: at(0) }), at(4))
    expect(first).toMatchObject({ nextCheckAt: at(5), sweepAt: at(0) })
    const second = nextCheck(first, at(5))
    expect(second).toMatchObject({ nextCheckAt: at(6), sweepAt: at(6) })
  })
})
