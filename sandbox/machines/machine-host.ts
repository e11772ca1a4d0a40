/** What a simulated cloud needs of the machines behind it: it racks them, this runs them. */
export interface MachineHost {
  /**
   * Powers a machine on: an SSH server on the loopback network in front of a folder of its own. Called again with the same id
   * after the sandbox was restarted, the machine comes back with its disk, host key, port and enabled services.
   */
  start(spec: MachineSpec): Promise<{ hostname: string; port: number }>
  /** Powers it off; `wipe` also throws its disk away, as a reinstallation or a release does. */
  stop(id: string, options: { wipe: boolean }): Promise<void>
}

export type MachineSpec = {
  id: string
  username: string
  /** OpenSSH public keys that the image lets in from the start. */
  authorizedKeys: string[]
  hardware: MachineHardware
  /** How the first connections fail, in order: cloud-init is still at work. Then it answers. */
  sshTrouble?: ('refuse' | 'hang' | 'reject_key')[]
  /** Where its SSH server is to listen: a loopback address. Any free port of 127.0.0.1, if not said. */
  listen?: { host: string; port: number }
  /** A script that runs as root when it is powered on for the first time, as cloud-init's does. */
  userData?: string
}

/** What is really in the box, as its own tools show it; it can differ from what the cloud advertised. */
export type MachineHardware = {
  arch: 'x86_64' | 'aarch64'
  /** What `nproc` says. */
  cpus: number
  /** Where a core has more than one thread; 1 if not said. */
  threadsPerCore?: number
  /** MemTotal. */
  memoryKib: number
  rootDiskBytes: number
  /** Mount paths of the drives beside the root disk. */
  localDisks: string[]
  gpus: {
    vendor: 'nvidia' | 'amd'
    /** As the vendor's tool prints it: `AMD Instinct MI300X`, `NVIDIA H100 80GB HBM3`. */
    name: string
    memoryMib: number
    count: number
    driverVersion: string
  } | null
}
