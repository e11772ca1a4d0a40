import { createHash } from 'node:crypto'
import { type InstallStatus, installStatusOf, isUp } from './installation.ts'
import type { SimulatedAccount, SimulatedRental, StockRow } from './state.ts'

/** What the simulated cloud sends, as it stands on the wire. */

/** Empty lists are sent as `null`. */
export const listBody = <Row>(rows: Row[]): Row[] | null => (rows.length === 0 ? null : rows)

export const stockBody = (row: StockRow) => ({
  MinimumReservationMinutes: row.minimumMinutes,
  ...(row.pricePerHourCents === undefined ? {} : { OnDemandPrice: row.pricePerHourCents }),
  Quantity: row.quantity,
  Specs: row.specs,
})

/** `deployment_id` is sent for VMs; the contract of bare metal has no such field. */
export const machineBody = (rental: SimulatedRental, now: number) => {
  const status = installStatusOf(rental, now)
  return {
    name: rental.name,
    description: rental.description,
    ip_address: '10.0.0.2',
    ...(rental.address
      ? { ssh_access: { ip_address: rental.address.hostname, port: rental.address.port } }
      : {}),
    ...(rental.kind === 'vm'
      ? { deployment_id: rental.deploymentId }
      : { manufacturer: 'Dell', model: 'PowerEdge XE9680', os_status: osStatus(status, now) }),
    ...rental.specs,
  }
}

export const vmStateBody = (rental: SimulatedRental, now: number) => ({
  state: rental.endedAt !== null ? 'shut off' : isUp(rental, now) ? 'running' : 'starting',
  host: 'vm-host-01',
})

export const userBody = (account: SimulatedAccount, team: string) => ({
  user: { name: 'Sandbox', email: 'sandbox@example.com', created: '2025-01-01T00:00:00Z' },
  teams: [
    {
      handle: team,
      name: team,
      maximum_virtual_machines: account.maximumVirtualMachines,
      maximum_bare_metal_servers: account.maximumBareMetalServers,
      roles: account.roles,
      effective_roles: account.roles,
    },
  ],
})

export const sshKeyBody = (line: string) => {
  const [type = '', publicKey = '', ...comment] = line.split(' ')
  const hash = createHash('sha256').update(Buffer.from(publicKey, 'base64')).digest('base64')
  const fingerprint = `SHA256:${hash.replace(/=+$/, '')}`
  return { type, public_key: publicKey, comment: comment.join(' '), fingerprint }
}

const osStatus = (status: InstallStatus | undefined, now: number) =>
  status && {
    os_selection: 'ubuntu-2204.5',
    os_install_status: status,
    last_imaging_update: new Date(now).toISOString(),
  }
