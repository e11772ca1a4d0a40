import type { Activity } from '../model/activity.ts'
import type { ObservedHardware } from '../model/hardware.ts'

/** The way to a machine and its agent. The lifecycle knows this alone; `ssh-shim.ts` is the real one. */
export interface Shim {
  /**
   * Opens one SSH connection. With a pinned fingerprint, any other host key is refused; without one the key that is
   * met is accepted and stands in the session, for the caller to pin.
   * Throws ShimUnreachable for everything that may pass: refused, timed out, authentication failed.
   */
  connect(target: SshTarget): Promise<ShimSession>
}

export type SshTarget = {
  hostname: string
  port: number
  username: string
  hostKeyFingerprint?: string | undefined
}

/** Every call throws ShimUnreachable when the connection or the agent does not answer in time. */
export interface ShimSession {
  readonly hostKeyFingerprint: string
  /** Runs the bootstrap script, which is harmless to repeat; `output` is its last lines. */
  bootstrap(): Promise<{ ok: boolean; output: string }>
  /** The agent's own answer: the proof that it runs. */
  health(): Promise<ShimHealth>
  hardware(): Promise<ObservedHardware>
  activity(): Promise<Activity>
  /** Makes these the keys that Berth keeps on the machine beside its own; other lines of the file stay. */
  authorizeKeys(keys: string[]): Promise<void>
  close(): void
}

export type ShimHealth = {
  version: string
  /** What dcgm says where the agent runs it: 0 well, 10 warning, 20 failure. */
  gpuHealth?: { level: number; incidents: string[] } | undefined
}

/** The machine or its agent cannot be reached now. `kind` tells a wrong host key, which does not pass by itself. */
export class ShimUnreachable extends Error {
  readonly kind: 'unreachable' | 'wrong_host_key' | 'agent'
  constructor(kind: ShimUnreachable['kind'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ShimUnreachable'
    this.kind = kind
  }
}
