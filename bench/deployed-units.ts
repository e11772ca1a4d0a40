import { keepFleets } from '../lib/lifecycle/keep-fleets.ts'
import { reconcile } from '../lib/lifecycle/reconcile.ts'
import { sweep } from '../lib/lifecycle/sweep.ts'
import { startWorld } from '../test/support/world.ts'
import { startTable } from './table.ts'

const minuteMs = 60_000

/** What the arithmetic of docs/deploy.md stands on: units, visits and hints of a VM's hour, and of schedules at rest. */
export const deployedUnits = async () => {
  const { store, observer, meter, stop } = await startTable()
  const world = await startWorld(store, { observer })
  const sent: Record<string, number> = {}
  const { send } = world.ctx.queues
  world.ctx.queues.send = async (step, id, delayMs) => {
    sent[step] = (sent[step] ?? 0) + 1
    await send(step, id, delayMs)
  }
  try {
    await store.owner()
    meter.reset()
    await sweep(world.ctx)
    const idleSweep = { read: meter.read, write: meter.write }
    await reconcile(world.ctx)
    meter.reset()
    await reconcile(world.ctx)
    const idleReconcile = { read: meter.read, write: meter.write }
    meter.reset()
    await keepFleets(world.ctx)
    const idleKeepFleets = { read: meter.read, write: meter.write }
    meter.reset()
    const body = { instanceTypes: ['vm-mi300x-1'], idleDuration: '5m' }
    const { id } = await world.rent(body, { name: 'alice', idempotencyKey: 'bench' })
    await world.runUntil(id, ({ status }) => status === 'busy')
    const guest = await world.guest(id)
    guest.activity = { runningTasks: 1, sshSessions: 0 }
    await world.run(60)
    guest.activity = { runningTasks: 0, sshSessions: 0 }
    await world.release(id)
    const gone = await world.runUntil(id, ({ status }) => status === 'terminated')
    return {
      idleSweep,
      idleReconcile,
      idleKeepFleets,
      hour: {
        read: meter.read,
        write: meter.write,
        hints: sent,
        minutes: Math.round(((gone.terminatedAt ?? 0) - gone.createdAt) / minuteMs),
      },
    }
  } finally {
    await world.stop()
    await stop()
  }
}
