import type { Activity } from '../../lib/model/activity.ts'
import type { ObservedHardware } from '../../lib/model/hardware.ts'
import { normaliseGpuName } from '../../lib/shim/gpu-name.ts'
import { type Shim, type ShimSession, ShimUnreachable } from '../../lib/shim/shim.ts'
import type { MachineSpec } from '../../sandbox/machines/machine-host.ts'
import type { MachinesInMemory } from './machines-in-memory.ts'

/** What runs on one machine, for a test to change. */
type Guest = {
  agent: 'absent' | 'up' | 'silent'
  activity: Activity
  hostKey: string
  /** The keys that Berth keeps on it. */
  keys: string[]
  bootstraps: number
  connections: number
}

export type FakeShim = Shim & {
  /** What runs on the machine; a machine that was wiped starts anew. */
  guest(id: string): Guest
  wipe(id: string): void
}

/** The way to machines in memory: the rules of SSH and of the agent, without either. */
export const createFakeShim = (machines: MachinesInMemory): FakeShim => {
  const guests = new Map<string, Guest>()
  const guest = (id: string): Guest => {
    const known = guests.get(id) ?? {
      agent: 'absent',
      activity: { runningTasks: 0, sshSessions: 0 },
      hostKey: `SHA256:${id}`,
      keys: [],
      bootstraps: 0,
      connections: 0,
    }
    guests.set(id, known)
    return known
  }
  return {
    guest,
    wipe: (id) => guests.delete(id),
    connect: async ({ hostname, port, hostKeyFingerprint }) => {
      const spec = machines.at(port, hostname)
      if (!spec) throw new ShimUnreachable('unreachable', 'connection refused')
      const trouble = spec.sshTrouble?.shift()
      if (trouble) throw new ShimUnreachable('unreachable', words[trouble])
      const met = guest(spec.id)
      if (hostKeyFingerprint !== undefined && hostKeyFingerprint !== met.hostKey) {
        throw new ShimUnreachable('wrong_host_key', `the host key is ${met.hostKey}`)
      }
      met.connections += 1
      return sessionOn(spec, met)
    },
  }
}

const words = { refuse: 'connection refused', hang: 'timed out', reject_key: 'authentication failed' }

const sessionOn = (spec: MachineSpec, guest: Guest): ShimSession => {
  const agent = () => {
    if (guest.agent !== 'up') throw new ShimUnreachable('agent', 'the agent does not answer')
  }
  return {
    hostKeyFingerprint: guest.hostKey,
    bootstrap: async () => {
      guest.bootstraps += 1
      if (guest.agent === 'absent') guest.agent = 'up'
      return { ok: true, output: 'started by systemd' }
    },
    health: async () => {
      agent()
      return { version: '0.22.5' }
    },
    hardware: async () => observe(spec),
    activity: async () => {
      agent()
      return guest.activity
    },
    authorizeKeys: async (keys) => {
      guest.keys = keys
    },
    close: () => {},
  }
}

const observe = ({ hardware }: MachineSpec): ObservedHardware => ({
  arch: hardware.arch === 'aarch64' ? 'arm' : 'x86',
  cpus: hardware.cpus,
  memoryGb: hardware.memoryKib / 2 ** 20,
  diskGb: hardware.rootDiskBytes / 2 ** 30,
  localDisks: hardware.localDisks,
  ...(hardware.gpus && {
    gpuVendor: hardware.gpus.vendor,
    gpuName: normaliseGpuName(hardware.gpus.name),
    gpuMemoryGb: hardware.gpus.memoryMib / 1024,
    gpuCount: hardware.gpus.count,
    driverVersion: hardware.gpus.driverVersion,
  }),
})
