import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../../lib/model/clock.ts'
import type { MachineHardware, MachineHost, MachineSpec } from '../../machines/machine-host.ts'
import { balanceCents, isShown, priceOf } from './billing.ts'
import type { createFaults } from './faults.ts'
import { hardwareOf } from './hardware.ts'
import { installStatusOf, isUp } from './installation.ts'
import type { CloudState, SimulatedRental, StockRow } from './state.ts'

export type MachineFaults = ReturnType<
  typeof createFaults<MachineHardware, NonNullable<MachineSpec['sshTrouble']>[number]>
>

/** Milliseconds of the clock that is handed in. */
export type Timings = { vmBootMs: number; installMs: number; resetMs: number }

export type Rentals = ReturnType<typeof createRentals>

/** The machines of the simulated cloud: made, shown, wiped and given back. `save` is called after every change. */
export const createRentals = (parts: {
  state: CloudState
  save: () => void
  clock: Clock
  machines: MachineHost
  faults: MachineFaults
  timings: Timings
  random: () => number
}) => {
  const { state, save, clock, machines, faults, timings } = parts
  const shown = (kind: Kind) =>
    state.rentals.filter((rental) => rental.kind === kind && isShown(rental, clock.now()))

  const powerOn = async (rental: SimulatedRental) => {
    rental.address = await machines.start({
      id: machineId(rental),
      username: 'hotaisle',
      authorizedKeys: rental.authorizedKeys,
      hardware: rental.hardware,
      sshTrouble: rental.sshTrouble,
    })
    save()
  }

  const powerOff = async (rental: SimulatedRental) => {
    const wasOn = rental.address !== null
    rental.address = null
    save()
    if (wasOn) await machines.stop(machineId(rental), { wipe: true })
  }

  const free = (row: StockRow) =>
    Math.max(
      0,
      row.quantity - shown(row.kind).filter(({ specs }) => isDeepStrictEqual(specs, row.specs)).length,
    )

  return {
    shown,
    /** What is left of each row: its quantity counts the rented machines too. */
    stock: (kind: Kind) =>
      state.stock.filter((row) => row.kind === kind).map((row) => ({ ...row, quantity: free(row) })),

    /** Brings back the machines that were up when the sandbox was stopped. */
    async restore() {
      await Promise.all(state.rentals.filter(({ address }) => address !== null).map(powerOn))
    },

    /** Powers on what has come up by now. */
    async settle() {
      const due = state.rentals.filter((rental) => rental.address === null && isUp(rental, clock.now()))
      for (const rental of due) await powerOn(rental)
    },

    /** Rents the machine with exactly these Specs, or says why not. `slow`: it is built anew for its user data. */
    create(kind: Kind, asked: StockRow['specs'], options: { description: string; slow: boolean }) {
      const now = clock.now()
      const row = state.stock.find(
        (row) => row.kind === kind && sameSpecs(kind, row.specs, asked) && free(row) > 0,
      )
      if (row?.pricePerHourCents === undefined) return 'no_match'
      if (balanceCents(state, now) < priceOf(row.pricePerHourCents, row.minimumMinutes)) return 'no_balance'
      const next = faults.takeMachine()
      const usualMs = (kind === 'vm' ? timings.vmBootMs : timings.installMs) * (options.slow ? 3 : 1)
      const hardware = { ...hardwareOf(kind, row.specs), ...next.hardware }
      if (hardware.gpus && next.gpuCount !== undefined) {
        hardware.gpus = next.gpuCount === 0 ? null : { ...hardware.gpus, count: next.gpuCount }
      }
      const rental: SimulatedRental = {
        kind,
        name: freeName(kind, shown(kind)),
        deploymentId: `${state.rentals.length + 1}-${Math.floor(parts.random() * 2 ** 32).toString(16)}`,
        description: options.description,
        specs: row.specs,
        pricePerHourCents: row.pricePerHourCents,
        minimumMinutes: row.minimumMinutes,
        startedAt: now,
        endedAt: null,
        goneAt: null,
        installingSince: now,
        installMs: next.bootMs ?? usualMs,
        installFails: next.installFails ?? 0,
        authorizedKeys: [...state.account.sshKeys],
        sshTrouble: next.sshTrouble ?? [],
        hardware,
        address: null,
      }
      state.rentals.push(rental)
      save()
      return rental
    },

    describe(rental: SimulatedRental, description: string) {
      rental.description = description
      save()
    },

    isInsideMinimum: (rental: SimulatedRental) =>
      clock.now() < rental.startedAt + rental.minimumMinutes * 60_000,

    /** Ends the rental; the machine is shown until its reset is done. */
    async release(rental: SimulatedRental) {
      if (rental.endedAt !== null) return
      rental.endedAt = clock.now()
      rental.goneAt = rental.endedAt + timings.resetMs
      await powerOff(rental)
    },

    async reinstall(rental: SimulatedRental) {
      if (installStatusOf(rental, clock.now()) === 'failed') rental.installFails -= 1
      rental.installingSince = clock.now()
      await powerOff(rental)
    },
  }
}

type Kind = 'vm' | 'bm'

const machineId = ({ deploymentId }: SimulatedRental) => `hotaisle-${deploymentId}`

/** Names are those of slots, so they come back. */
const freeName = (kind: Kind, taken: SimulatedRental[]): string => {
  const names = new Set(taken.map(({ name }) => name))
  let slot = 1
  while (names.has(nameOf(kind, slot))) slot += 1
  return nameOf(kind, slot)
}

const nameOf = (kind: Kind, slot: number) =>
  `enc1-gpu${kind === 'vm' ? 'vm' : ''}${String(slot).padStart(3, '0')}`

/** The fields of the contract. Any other was dropped when the request was read. */
const fields = {
  vm: ['cpu_cores', 'cpus', 'ram_capacity', 'disk_capacity', 'gpus'],
  bm: ['cpu_cores', 'cpus', 'ram_capacity', 'disk_capacity', 'gpus', 'memory_modules', 'disks'],
} as const

const sameSpecs = (kind: Kind, has: StockRow['specs'], asked: StockRow['specs']) =>
  fields[kind].every((field) => isDeepStrictEqual(has[field], asked[field]))
