import { describe, expect, test } from 'vitest'
import { bareMetal, longWorldSuite, minute, vm } from '../support/world-suite.ts'

const world = longWorldSuite()
const historyOf = (events: { message: string }[]) => events.map(({ message }) => message).join('\n')

describe('a machine that is not there yet', () => {
  test('whose SSH refuses twice, then rejects the key once, then answers, gets its agent', async () => {
    const w = await world()
    w.cloud.faults.nextMachine({ sshTrouble: ['refuse', 'refuse', 'reject_key'] })
    const { id } = await w.rent(vm)
    const ready = await w.runUntil(id, ({ status }) => status === 'busy', 15)
    expect(ready.machine?.shimVersion).toBe('0.22.5')
    expect(historyOf(ready.events)).toMatch(
      /connection refused[\s\S]*authentication failed[\s\S]*shim 0.22.5 is healthy/,
    )
    expect(w.rentals()).toHaveLength(1)
  })

  test('whose agent does not answer after its start is visited again until it does', async () => {
    const w = await world()
    const { id } = await w.rent(vm)
    await w.runUntil(id, ({ phase }) => phase === 'booting')
    await w.runUntil(id, ({ machine }) => machine?.cloudId !== undefined)
    const guest = w.shim.guest(w.machines.running()[0]?.id ?? 'none')
    guest.agent = 'silent'
    await w.run(4)
    guest.agent = 'up'
    await w.runUntil(id, ({ status }) => status === 'busy', 10)
    expect(w.rentals()).toHaveLength(1)
  })

  test('and never comes is given back after its deadline: ten minutes for a VM', async () => {
    const w = await world()
    w.cloud.faults.nextMachine({ bootMs: 24 * 60 * minute })
    const { id } = await w.rent(vm)
    const gone = await w.runUntil(id, ({ status }) => status === 'terminated', 60)
    expect(gone.terminationReason).toBe('provisioning_timeout')
    expect(gone.terminationMessage).toContain('booting')
    expect((gone.releaseAskedAt ?? 0) - (gone.startedAt ?? 0)).toBeLessThan(12 * minute)
    expect(w.stillRented()).toEqual([])
  })

  test('and has an hour for it as bare metal', async () => {
    const w = await world()
    w.cloud.faults.nextMachine({ bootMs: 50 * minute })
    const { id } = await w.rent(bareMetal)
    const ready = await w.runUntil(id, ({ status }) => status === 'busy', 61)
    expect(ready.hardware?.verdict).toBe('match')
  })

  test('and that its cloud cannot show for a while is waited for', async () => {
    const w = await world()
    const { id } = await w.rent(vm)
    await w.runUntil(id, ({ phase }) => phase === 'booting')
    w.cloud.faults.always('GET virtual_machines/{vm}', { kind: 'status', status: 500 })
    await w.run(5)
    w.cloud.faults.clear()
    await w.runUntil(id, ({ status }) => status === 'busy', 5)
  })

  test('and vanishes from its cloud is lost, and says so', async () => {
    const w = await world()
    const { id } = await w.rent(vm)
    await w.runUntil(id, ({ phase }) => phase === 'booting')
    w.clock.advance(2 * minute)
    const url = `${w.cloud.url}/teams/${w.cloud.team}/virtual_machines/${w.rentals()[0]?.name}/?force=true`
    await fetch(url, { method: 'DELETE', headers: { authorization: `Token ${w.cloud.apiKey}` } })
    w.clock.advance(2 * minute)
    const gone = await w.runUntil(id, ({ status }) => status === 'terminated', 30)
    expect(gone.terminationReason).toBe('lost')
  })
})

describe('bare metal whose installation fails', () => {
  test('is installed anew, once, and comes up', async () => {
    const w = await world()
    w.cloud.faults.nextMachine({ installFails: 1 })
    const { id } = await w.rent(bareMetal)
    const ready = await w.runUntil(id, ({ status }) => status === 'busy', 130)
    expect(w.requestsTo('POST bare_metal/{server}/reinstall')).toHaveLength(1)
    expect(historyOf(ready.events)).toContain('the system is installed anew, once')
    expect(w.rentals()).toHaveLength(1)
  })

  test('twice is given back at the end of the prepaid time, not by force, with a clear reason', async () => {
    const w = await world()
    w.cloud.faults.nextMachine({ installFails: 2 })
    const { id } = await w.rent(bareMetal)
    const ending = await w.runUntil(id, ({ status }) => status === 'terminating', 130)
    expect(ending).toMatchObject({ terminationReason: 'error', releaseAt: ending.reservation?.until })
    expect(ending.terminationMessage).toContain('installation of the system')
    expect(ending.terminationMessage).toContain('again, after it was installed anew')
    await w.runUntil(id, ({ status }) => status === 'terminated')
    expect(w.requestsTo('POST bare_metal/{server}/reinstall')).toHaveLength(1)
    const [rental] = w.rentals()
    expect(rental?.endedAt).toBeGreaterThanOrEqual((rental?.startedAt ?? 0) + 480 * minute)
  })

  test('is asked for again when the order to install anew was not taken', async () => {
    const w = await world()
    w.cloud.faults.nextMachine({ installFails: 1 })
    w.cloud.faults.once('POST bare_metal/{server}/reinstall', { kind: 'status', status: 500 })
    const { id } = await w.rent(bareMetal)
    await w.runUntil(id, ({ status }) => status === 'busy', 130)
    expect(w.requestsTo('POST bare_metal/{server}/reinstall')).toHaveLength(2)
  })

  test('may show another host key after it was installed anew', async () => {
    const w = await world()
    w.cloud.faults.nextMachine({ installFails: 1 })
    const { id } = await w.rent(bareMetal)
    const ready = await w.runUntil(id, ({ status }) => status === 'busy', 130)
    expect(ready.machine?.hostKeyFingerprint).toMatch(/^SHA256:/)
  })
})

describe('a host key', () => {
  test('is pinned at the first connection, and another one is not trusted', async () => {
    const w = await world()
    const { id } = await w.rent(vm)
    const ready = await w.runUntil(id, ({ status }) => status === 'busy')
    const guest = await w.guest(id)
    expect(ready.machine?.hostKeyFingerprint).toBe(guest.hostKey)
    guest.hostKey = 'SHA256:somebody-else'
    await w.run(2)
    const seen = await w.show(id)
    expect(seen.unreachableSince).toBeDefined()
    expect(seen.events.at(-1)?.message).toContain('the host key is SHA256:somebody-else')
  })
})

describe('the hardware check', () => {
  test('gives a machine back that has 7 GPUs of 8, and names the difference', async () => {
    const w = await world()
    w.cloud.faults.nextMachine({ gpuCount: 7 })
    const { id } = await w.rent(bareMetal)
    const ending = await w.runUntil(id, ({ status }) => status === 'terminating', 60)
    expect(ending).toMatchObject({
      terminationReason: 'hardware_mismatch',
      hardware: { verdict: 'mismatch', observed: { gpuCount: 7 } },
      releaseAt: ending.reservation?.until,
    })
    expect(ending.terminationMessage).toMatch(/\b7\b.*\b8\b/)
  })

  test('only warns when that is asked for', async () => {
    const w = await world()
    w.cloud.faults.nextMachine({ gpuCount: 7 })
    const { id } = await w.rent({ ...bareMetal, hardwareCheck: 'warn' })
    const ready = await w.runUntil(id, ({ status }) => status === 'busy', 60)
    expect(ready.hardware?.verdict).toBe('mismatch')
  })

  test('is left out when that is asked for', async () => {
    const w = await world()
    w.cloud.faults.nextMachine({ gpuCount: 7 })
    const { id } = await w.rent({ ...bareMetal, hardwareCheck: 'off' })
    const ready = await w.runUntil(id, ({ status }) => status === 'busy', 60)
    expect(ready.hardware).toEqual({ verdict: 'skipped', observed: null, differences: [] })
  })
})
