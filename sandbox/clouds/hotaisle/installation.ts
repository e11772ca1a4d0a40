import type { SimulatedRental } from './state.ts'

const stages = [
  'shutting_down',
  'ac_reset',
  'bios_reset',
  'booting_installer',
  'installing_os',
  'finalizing_os',
  'first_boot',
  'first_boot_tasks',
] as const

export type InstallStatus = (typeof stages)[number] | 'installed' | 'failed'

/**
 * Where the installation of a server stands: the stages share its time equally, after a first moment
 * in which no status is shown. One that fails does so half-way.
 */
export const installStatusOf = (rental: SimulatedRental, now: number): InstallStatus | undefined => {
  const done = (now - rental.installingSince) / rental.installMs
  if (rental.installFails > 0 && done >= 0.5) return 'failed'
  if (done >= 1) return 'installed'
  const slot = Math.floor(done * (stages.length + 1)) - 1
  return stages[slot]
}

/** Whether the machine's own system is up by now. */
export const isUp = (rental: SimulatedRental, now: number): boolean =>
  rental.endedAt === null &&
  now >= rental.installingSince + rental.installMs &&
  (rental.kind === 'vm' || rental.installFails === 0)
