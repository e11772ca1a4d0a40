import type { Instance } from '../../lib/model/instance.ts'
import { type Shim, ShimUnreachable } from '../../lib/shim/shim.ts'
import { createFakeShim } from '../fakes/fake-shim.ts'
import type { MachinesInMemory } from '../fakes/machines-in-memory.ts'
import type { Timeline } from './timeline.ts'

export type Guests = ReturnType<typeof createGuests>

/** What goes on inside the machines. */
export const createGuests = ({ machines, timeline }: { machines: MachinesInMemory; timeline: Timeline }) => {
  const inside = createFakeShim(machines)
  const inUse = new Map<string, number>()
  const outOfReach = new Set<string>()
  const shim: Shim = {
    connect: async (target) => {
      const spec = machines.at(target.port, target.hostname)
      if (spec && outOfReach.has(spec.id)) throw new ShimUnreachable('unreachable', 'timed out')
      return inside.connect(target)
    },
  }
  const isOn = (machineId: string) => machines.running().some(({ id }) => id === machineId)
  return {
    shim,
    inUseSince: (machineId: string) => (isOn(machineId) ? inUse.get(machineId) : undefined),
    machineIdOf: ({ machine }: Instance): string | undefined =>
      machine?.sshPort === undefined ? undefined : machines.at(machine.sshPort, machine.hostname)?.id,
    use: (machineId: string) => {
      inside.guest(machineId).activity = { runningTasks: 1, sshSessions: 0 }
      if (!inUse.has(machineId)) inUse.set(machineId, timeline.now())
    },
    leave: (machineId: string) => {
      inside.guest(machineId).activity = { runningTasks: 0, sshSessions: 0 }
      inUse.delete(machineId)
    },
    killAgent: (machineId: string) => {
      inside.guest(machineId).agent = 'silent'
    },
    cutOff: (machineId: string) => void outOfReach.add(machineId),
    reconnect: (machineId: string) => void outOfReach.delete(machineId),
    reconnectAll: () => outOfReach.clear(),
  }
}
