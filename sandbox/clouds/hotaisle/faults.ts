/** Every call that the simulated cloud knows, as its paths are written below `/teams/{team}/`. */
export const endpoints = [
  'GET user',
  'GET user/ssh_keys',
  'POST user/ssh_keys',
  'GET balance',
  'GET virtual_machines/available',
  'GET virtual_machines',
  'POST virtual_machines',
  'GET virtual_machines/{vm}',
  'GET virtual_machines/{vm}/state',
  'PATCH virtual_machines/{vm}',
  'DELETE virtual_machines/{vm}',
  'GET bare_metal/available',
  'GET bare_metal',
  'POST bare_metal',
  'GET bare_metal/{server}',
  'PATCH bare_metal/{server}',
  'DELETE bare_metal/{server}',
  'POST bare_metal/{server}/reinstall',
] as const
export type Endpoint = (typeof endpoints)[number]

export type Fault =
  /** This answer, and nothing is done. */
  | { kind: 'status'; status: number; body?: string; headers?: Record<string, string> }
  /** Done, and the connection is cut before the answer. */
  | { kind: 'lost_answer' }
  /** The connection is cut and nothing is done. */
  | { kind: 'cut_before' }
  /** Done after that many milliseconds of real time, whether or not the caller is still there. */
  | { kind: 'delay'; ms: number }

/** What the next machine to be rented will be like. */
export type NextMachine<Hardware, Trouble> = {
  /** How long its boot or installation takes. */
  bootMs?: number
  /** So many installations fail before one works. */
  installFails?: number
  sshTrouble?: Trouble[]
  hardware?: Partial<Hardware>
  /** GPUs that are really in it. */
  gpuCount?: number
}

/** Switches by which a test makes the cloud misbehave. */
export const createFaults = <Hardware, Trouble>() => {
  const once: { endpoint: Endpoint; fault: Fault }[] = []
  const always = new Map<Endpoint, Fault>()
  const machines: NextMachine<Hardware, Trouble>[] = []
  return {
    /** For the next such request; several of them are used in turn. */
    once(endpoint: Endpoint, fault: Fault) {
      once.push({ endpoint, fault })
    },
    /** For every such request until `clear`. */
    always(endpoint: Endpoint, fault: Fault) {
      always.set(endpoint, fault)
    },
    nextMachine(machine: NextMachine<Hardware, Trouble>) {
      machines.push(machine)
    },
    clear() {
      once.length = 0
      always.clear()
      machines.length = 0
    },
    /** Used by the cloud: the fault that is due for a request. */
    take(endpoint: Endpoint): Fault | undefined {
      const index = once.findIndex((entry) => entry.endpoint === endpoint)
      return index < 0 ? always.get(endpoint) : once.splice(index, 1)[0]?.fault
    },
    /** Used by the cloud: how the machine is to be that is being rented. */
    takeMachine: (): NextMachine<Hardware, Trouble> => machines.shift() ?? {},
  }
}
