import type { Shim } from './shim.ts'
import type { SshShimOptions } from './ssh-shim.ts'

/** The way to machines over SSH, loaded when one is first visited: most functions visit none. */
export const lateShim = (options: SshShimOptions): Shim => {
  let made: Promise<Shim> | undefined
  return {
    connect: async (target) => {
      made ??= import('./ssh-shim.ts').then(({ createSshShim }) => createSshShim(options))
      return (await made).connect(target)
    },
  }
}
