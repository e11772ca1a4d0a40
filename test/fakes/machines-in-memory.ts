import type { MachineHost, MachineSpec } from '../../sandbox/machines/machine-host.ts'

export type MachinesInMemory = MachineHost & {
  /** The machines that are on, in the order in which they were switched on. */
  running(): MachineSpec[]
  /** The machine that is on behind an address. */
  at(port: number, hostname?: string): MachineSpec | undefined
  wiped: string[]
  /** Every switching on, also of one that was on. */
  started: string[]
  /** Switching on takes until this resolves. */
  gate: Promise<unknown>
}

/** Machines that are nothing but an address; one that is switched on again has its port back. */
export const createMachinesInMemory = (): MachinesInMemory => {
  const ports = new Map<string, number>()
  const on = new Map<string, MachineSpec>()
  const wiped: string[] = []
  const started: string[] = []
  const host: MachinesInMemory = {
    async start(spec) {
      started.push(spec.id)
      await host.gate
      const port = ports.get(spec.id) ?? 40_000 + ports.size
      ports.set(spec.id, port)
      on.set(spec.id, spec)
      return addressOf(spec, port)
    },
    async stop(id, { wipe }) {
      on.delete(id)
      if (wipe) wiped.push(id)
    },
    running: () => [...on.values()],
    at: (port, hostname = '127.0.0.1') =>
      [...on.values()].find((spec) => {
        const address = addressOf(spec, ports.get(spec.id) ?? 0)
        return address.port === port && address.hostname === hostname
      }),
    wiped,
    started,
    gate: Promise.resolve(),
  }
  return host
}

const addressOf = ({ listen }: MachineSpec, port: number) => ({
  hostname: listen?.host ?? '127.0.0.1',
  port: listen?.port ?? port,
})
