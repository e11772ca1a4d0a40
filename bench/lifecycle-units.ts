import { startWorld } from '../test/support/world.ts'
import { startTable } from './table.ts'

/**
 * The units of one whole lifecycle, from a request with an Idempotency-Key to the proof that the machine is gone:
 * provisioned, started, checked while it works, released, idle, given back. The cloud boots at once: each visit to a
 * machine that boots for minutes costs about four write units more. The sweep is counted by its own bench.
 */
export const lifecycleUnits = async (instanceType: string) => {
  const { store, observer, meter, stop } = await startTable()
  const world = await startWorld(store, {
    observer,
    cloud: { timings: { vmBootMs: 0, installMs: 0, resetMs: 0 } },
  })
  try {
    // A warm function knows its deployment's name.
    await store.owner()
    meter.reset()
    const body = { instanceTypes: [instanceType], idleDuration: '0' }
    const { id } = await world.rent(body, { name: 'alice', idempotencyKey: 'bench' })
    await world.runUntil(id, ({ status }) => status === 'busy')
    const guest = await world.guest(id)
    guest.activity = { runningTasks: 1, sshSessions: 0 }
    await world.runUntil(id, ({ claim }) => claim?.active === true)
    guest.activity = { runningTasks: 0, sshSessions: 0 }
    const { reservation } = await world.show(id)
    world.clock.advance(Math.max(0, (reservation?.until ?? 0) - world.clock.now()))
    await world.release(id)
    const gone = await world.runUntil(id, ({ status }) => status === 'terminated')
    return {
      instanceType,
      writeUnits: meter.write,
      readUnits: meter.read,
      writes: gone.version + 1,
      recordBytes: JSON.stringify(gone).length,
    }
  } finally {
    await world.stop()
    await stop()
  }
}
