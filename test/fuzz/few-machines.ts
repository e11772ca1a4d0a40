import type { LocalBerth } from '../../sandbox/local/local-berth.ts'

/** However many are asked for, so few machines are there: each is an SSH server, an agent and their processes. */
export const allowFewMachines = ({ clouds }: LocalBerth): void => {
  if (!clouds) throw new Error('the clouds are not simulated')
  clouds.hotaisle.setAccount({ maximumVirtualMachines: 2, maximumBareMetalServers: 1 })
  const rows = clouds.oci.stock()
  const one = rows.find(({ shape }) => shape === 'VM.GPU.A10.1')
  clouds.oci.setStock(
    rows.map((row) => ({
      ...row,
      limit: row === one ? 1 : 0,
      onDemand: row === one ? 1 : 0,
      preemptible: 0,
    })),
  )
}
