import type { MachineHardware, MachineSpec } from '../../machines/machine-host.ts'
import type { Operation } from './operations.ts'

export type Fault =
  /** This answer, and nothing is done. */
  | { kind: 'status'; status: number; code?: string; message?: string; headers?: Record<string, string> }
  /** Done, and the connection is cut before the answer. */
  | { kind: 'lost_answer' }
  /** Done, and answered as if it had failed. */
  | { kind: 'done_but_500' }
  /** The connection is cut and nothing is done. */
  | { kind: 'cut_before' }
  /** Done after that many milliseconds of real time, whether or not the caller is still there. */
  | { kind: 'delay'; ms: number }

/** What the next instance to be launched will be like. */
export type NextMachine = {
  /** How long it takes to be RUNNING. */
  bootMs?: number
  sshTrouble?: NonNullable<MachineSpec['sshTrouble']>
  hardware?: Partial<MachineHardware>
  /** GPUs that are really in it. */
  gpuCount?: number
  /** Accepted, and TERMINATED by itself after so long; its work request says why. */
  failure?: { afterMs: number; code: string; message: string }
  /** Its VNICs are shown and attached so much later. */
  vnicDelayMs?: number
  /** Further VNICs, shown before the primary one. */
  secondaryVnics?: number
  publicIp?: boolean
}

export type Faults = ReturnType<typeof createFaults>

/** Switches by which a test makes the cloud misbehave. */
export const createFaults = () => {
  const once: { operation: Operation; fault: Fault }[] = []
  const always = new Map<Operation, Fault>()
  const machines: NextMachine[] = []
  return {
    /** For the next such request; several of them are used in turn. */
    once(operation: Operation, fault: Fault) {
      once.push({ operation, fault })
    },
    /** For every such request until `clear`. */
    always(operation: Operation, fault: Fault) {
      always.set(operation, fault)
    },
    nextMachine(machine: NextMachine) {
      machines.push(machine)
    },
    clear() {
      once.length = 0
      always.clear()
      machines.length = 0
    },
    /** Used by the cloud: the fault that is due for a request. */
    take(operation: Operation): Fault | undefined {
      const index = once.findIndex((entry) => entry.operation === operation)
      return index < 0 ? always.get(operation) : once.splice(index, 1)[0]?.fault
    },
    /** Used by the cloud: how the machine is to be that is being launched. */
    takeMachine: (): NextMachine => machines.shift() ?? {},
  }
}
