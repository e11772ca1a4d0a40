import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { settings } from '../lib/model/settings.ts'
import { newKeyPair } from '../lib/shim/key-pair.ts'
import type { ShimSession } from '../lib/shim/shim.ts'
import { createSshShim, type ShimTimeouts } from '../lib/shim/ssh-shim.ts'
import type { MachineHardware, MachineSpec } from '../sandbox/machines/machine-host.ts'
import { createMachineHost } from '../sandbox/machines/machine-host-local.ts'

export const berthKey = newKeyPair()
export const renterKey = newKeyPair()

export const shimSettings = settings.parse({
  backends: [{ type: 'hotaisle', team_handle: 'crew', creds: { api_key: 'prefix.secret' } }],
}).shim

/** One MI300X in a VM, as Hot Aisle's. */
export const mi300x: MachineHardware = {
  arch: 'x86_64',
  cpus: 13,
  memoryKib: 228_000_000,
  rootDiskBytes: 13_000_000_000_000,
  localDisks: [],
  gpus: {
    vendor: 'amd',
    name: 'AMD Instinct MI300X VF',
    memoryMib: 196_592,
    count: 1,
    driverVersion: '6.10.5',
  },
}

export const h100s: MachineHardware = {
  arch: 'x86_64',
  cpus: 104,
  memoryKib: 2_100_000_000,
  rootDiskBytes: 470_000_000_000,
  localDisks: ['/mnt/nvme0n1p1', '/mnt/nvme1n1p1'],
  gpus: {
    vendor: 'nvidia',
    name: 'NVIDIA H100 80GB HBM3',
    memoryMib: 81_559,
    count: 8,
    driverVersion: '550.54.15',
  },
}

/** A rack of simulated machines in a temporary folder, and the shim that reaches them; `tearDown` leaves nothing. */
export const setUpMachines = (init: 'systemd' | 'none' = 'systemd') => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-machines-'))
  const host = createMachineHost({ folder, init })
  const sessions: ShimSession[] = []
  return {
    folder,
    host,
    start: async (id: string, spec: Partial<MachineSpec> = {}) => {
      const { hostname, port } = await host.start({
        id,
        username: 'hotaisle',
        authorizedKeys: [berthKey.publicKey],
        hardware: mi300x,
        ...spec,
      })
      return { hostname, port, username: spec.username ?? 'hotaisle' }
    },
    connect: async (
      target: { hostname: string; port: number; username: string; hostKeyFingerprint?: string },
      options: { privateKey?: string; timeouts?: Partial<ShimTimeouts>; shim?: typeof shimSettings } = {},
    ) => {
      const { privateKey = berthKey.privateKey, shim = shimSettings, timeouts } = options
      const session = await createSshShim({
        privateKey,
        shim,
        timeouts: { connectMs: 10_000, commandMs: 20_000, bootstrapMs: 30_000, agentMs: 5000, ...timeouts },
      }).connect(target)
      sessions.push(session)
      return session
    },
    tearDown: async () => {
      for (const session of sessions) session.close()
      await host.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
