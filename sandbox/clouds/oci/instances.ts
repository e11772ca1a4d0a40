import type { Clock } from '../../../lib/model/clock.ts'
import type { MachineHost } from '../../machines/machine-host.ts'
import type { Faults, NextMachine } from './faults.ts'
import { hardwareOf, type SimulatedListing } from './images.ts'
import { lifecycleOf } from './lifecycle.ts'
import type { Places } from './places.ts'
import { isBareMetal, shapes } from './shapes.ts'
import type { CloudState, SimulatedInstance, SimulatedVnic } from './state.ts'

/** Milliseconds of the clock that is handed in. */
export type Timings = {
  /** From the launch to STARTING. */
  provisionMs: number
  /** From the launch to RUNNING. */
  vmBootMs: number
  bareMetalBootMs: number
  /** From TERMINATING to TERMINATED. */
  terminateMs: number
  /** Until a part of a network is AVAILABLE. */
  networkMs: number
  /** Until a compartment is ACTIVE. */
  compartmentMs: number
}

export const defaultTimings: Timings = {
  provisionMs: 30_000,
  vmBootMs: 60_000,
  bareMetalBootMs: 480_000,
  terminateMs: 60_000,
  networkMs: 0,
  compartmentMs: 180_000,
}

export type Order = Pick<
  SimulatedInstance,
  | 'region'
  | 'domain'
  | 'domainName'
  | 'compartmentId'
  | 'displayName'
  | 'shape'
  | 'imageId'
  | 'subnetId'
  | 'nsgIds'
  | 'freeformTags'
  | 'metadata'
  | 'preemptible'
  | 'bootVolumeGb'
  | 'legacyImdsDisabled'
> & { image: SimulatedListing; wantsPublicIp: boolean }

export type Instances = ReturnType<typeof createInstances>

/** The machines of the simulated cloud: made, powered on, taken away. `save` is called after every change. */
export const createInstances = (parts: {
  state: CloudState
  save: () => void
  clock: Clock
  machines: MachineHost
  faults: Faults
  places: Places
  timings: Timings
  /** Where the machines' sshd listens, each at its own address. */
  sshPort: number
  /** Whether the network lets SSH in from the internet. */
  isReachable: (instance: SimulatedInstance) => boolean
  random: () => number
}) => {
  const { state, save, clock, machines, faults, places, timings } = parts

  const powerOn = async (instance: SimulatedInstance) => {
    const { ssh_authorized_keys: keys = '', user_data: userData } = instance.metadata
    const host = parts.isReachable(instance) ? primaryOf(instance)?.publicIp : null
    await machines.start({
      id: machineId(instance),
      username: 'ubuntu',
      authorizedKeys: keys.split('\n').filter((line) => line.trim() !== ''),
      hardware: instance.hardware,
      sshTrouble: instance.sshTrouble,
      // Without it the machine is up, and nobody outside knows where.
      ...(host ? { listen: { host, port: parts.sshPort } } : {}),
      ...(userData === undefined ? {} : { userData: Buffer.from(userData, 'base64').toString('utf8') }),
    })
    instance.isOn = true
    save()
  }

  const powerOff = async (instance: SimulatedInstance) => {
    const wasOn = instance.isOn
    instance.isOn = false
    save()
    if (wasOn) await machines.stop(machineId(instance), { wipe: true })
  }

  const end = async (instance: SimulatedInstance, interrupted: boolean) => {
    if (instance.endedAt !== null) return
    instance.endedAt = clock.now()
    instance.terminatedAt = instance.endedAt + timings.terminateMs
    instance.interrupted = interrupted
    await powerOff(instance)
  }

  /** An address of the loopback network that no other machine has. */
  const freeAddress = (): string => {
    const taken = new Set(state.instances.flatMap(({ vnics }) => vnics.map(({ publicIp }) => publicIp)))
    const part = (from: number, to: number) => from + Math.floor(parts.random() * (to - from + 1))
    let address: string
    do address = `127.${part(16, 254)}.${part(0, 255)}.${part(1, 254)}`
    while (taken.has(address))
    return address
  }

  const vnicsOf = (order: Order, next: NextMachine, now: number): SimulatedVnic[] => {
    const attachedAt = now + timings.provisionMs + (next.vnicDelayMs ?? 0)
    const secondary = Array.from({ length: next.secondaryVnics ?? 0 }, () => false)
    return [...secondary, true].map((isPrimary, n) => ({
      id: places.ocid('vnic', order.region),
      attachmentId: places.ocid('vnicattachment', order.region),
      isPrimary,
      attachingAt: Math.floor((now + attachedAt) / 2),
      attachedAt,
      privateIp: `10.0.0.${2 + ((state.ocids + n) % 250)}`,
      publicIp: isPrimary && order.wantsPublicIp && next.publicIp !== false ? freeAddress() : null,
    }))
  }

  return {
    /** Brings back the machines that were up when the sandbox was stopped. */
    async restore() {
      await Promise.all(state.instances.filter(({ isOn }) => isOn).map(powerOn))
    },

    /** Powers on what has come up by now, and off what has failed. */
    async settle() {
      for (const instance of state.instances) {
        const lifecycle = lifecycleOf(instance, clock.now())
        if (!instance.isOn && lifecycle === 'RUNNING') await powerOn(instance)
        if (instance.isOn && lifecycle === 'TERMINATED') await powerOff(instance)
      }
    },

    /** Makes an instance of what was found to be in order. */
    create({ image, wantsPublicIp, ...order }: Order): SimulatedInstance {
      const now = clock.now()
      const next = faults.takeMachine()
      const bootMs = next.bootMs ?? (isBareMetal(order.shape) ? timings.bareMetalBootMs : timings.vmBootMs)
      const hardware = { ...hardwareOf(order.shape, image, order.bootVolumeGb), ...next.hardware }
      if (hardware.gpus && next.gpuCount !== undefined) {
        hardware.gpus = next.gpuCount === 0 ? null : { ...hardware.gpus, count: next.gpuCount }
      }
      const dollars = shapes[order.shape]?.dollarsPerHour ?? 0
      const instance: SimulatedInstance = {
        ...order,
        id: places.ocid('instance', order.region),
        createdAt: now,
        provisionedAt: now + Math.min(timings.provisionMs, bootMs),
        runningAt: now + bootMs,
        failure: next.failure
          ? { at: now + next.failure.afterMs, code: next.failure.code, message: next.failure.message }
          : null,
        endedAt: null,
        terminatedAt: null,
        interrupted: false,
        workRequestId: places.ocid('coreservicesworkrequest', order.region),
        vnics: vnicsOf({ image, wantsPublicIp, ...order }, next, now),
        pricePerHourMicros: Math.round(dollars * (order.preemptible ? 500_000 : 1_000_000)),
        hardware,
        sshTrouble: next.sshTrouble ?? [],
        isOn: false,
      }
      state.instances.push(instance)
      return instance
    },

    terminate: (instance: SimulatedInstance) => end(instance, false),

    /** The host is taken away, as a preemptible one can be at any time. */
    preempt: (instance: SimulatedInstance) => end(instance, true),
  }
}

const primaryOf = ({ vnics }: SimulatedInstance) => vnics.find(({ isPrimary }) => isPrimary)

const machineId = ({ id }: SimulatedInstance) => `oci-${id.split('.').at(-1)}`
