import { connectSsh } from '../../lib/shim/ssh.ts'
import type { ShownInstance } from './api-client.ts'

/** A renter at work on its machine, over SSH with its own key; `leave` ends the session. */
export const arrive = async (
  machine: ShownInstance,
  privateKey: string,
  countGpus: string,
): Promise<{ sees: string; leave: () => void }> => {
  const { hostname, sshPort, sshUsername } = machine
  if (hostname === null || sshPort === null || sshUsername === null)
    throw new Error('the machine has no address')
  const connection = await connectSsh(
    { hostname, port: sshPort, username: sshUsername },
    { privateKey, connectMs: 10_000 },
  )
  const limits = { timeoutMs: 10_000 }
  const cpus = await connection.exec('nproc', limits)
  const gpus = await connection.exec(countGpus, limits)
  return { sees: `${cpus.stdout.trim()} CPUs, ${gpus.stdout.trim()} GPUs`, leave: () => connection.close() }
}
