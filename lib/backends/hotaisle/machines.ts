import type { MachineRef, MachineState, Machines } from '../backend.ts'
import type { SeenMachine } from './answers.ts'
import type { Api } from './api.ts'
import { wordsOfAnswer } from './client.ts'
import type { Credentials } from './credentials.ts'
import { identify } from './identity.ts'
import { kindOf } from './kinds.ts'

/** Where a machine stands. Puts the mark on a VM that has none yet, for whoever lists the account. */
export const stateOf = async (api: Api, credentials: Credentials, ref: MachineRef): Promise<MachineState> => {
  const identity = await identify(api, credentials, ref)
  if (identity.is === 'unknown')
    return { state: 'unknown', message: identity.message, retryAfterMs: identity.retryAfterMs }
  if (identity.is === 'gone') return { state: 'gone', interrupted: false }
  const { machine } = identity
  if (kindOf(ref.instanceType) === 'bm') return serverState(machine)
  if (machine.description === '' && ref.mark !== undefined) await api.describe('vm', machine.name, ref.mark)
  return vmState(api, machine)
}

/** Installs the system of a bare metal server anew. */
export const repairMachine = async (
  api: Api,
  credentials: Credentials,
  ref: MachineRef,
): ReturnType<Machines['repair']> => {
  if (kindOf(ref.instanceType) === 'vm') {
    return { outcome: 'not_possible', message: 'Hot Aisle installs only bare metal anew' }
  }
  const identity = await identify(api, credentials, ref)
  if (identity.is === 'unknown')
    return { outcome: 'retry', message: identity.message, retryAfterMs: identity.retryAfterMs }
  if (identity.is === 'gone')
    return { outcome: 'not_possible', message: `${ref.cloudId} is no longer rented` }
  const answer = await api.reinstall(ref.cloudId)
  if (answer.kind === 'ok') return { outcome: 'started', message: `${ref.cloudId} is being installed anew` }
  const message = `${ref.cloudId} could not be installed anew: ${wordsOfAnswer(answer)}`
  return { outcome: 'retry', message, retryAfterMs: answer.retryAfterMs }
}

const serverState = (machine: SeenMachine): MachineState => {
  const word = machine.installStatus ?? 'waiting for the installation to begin'
  if (word === 'failed') {
    return { state: 'failed', message: `The installation of the system on ${machine.name} failed` }
  }
  if (word !== 'installed') return { state: 'starting', progress: word }
  // Its ip_address is private.
  if (!machine.sshAccess) return { state: 'starting', progress: 'waiting for SSH access' }
  return running(machine.sshAccess.ip_address, machine.sshAccess.port)
}

const vmState = async (api: Api, machine: SeenMachine): Promise<MachineState> => {
  const answer = await api.vmState(machine.name)
  if (answer.kind !== 'ok')
    return { state: 'unknown', message: wordsOfAnswer(answer), retryAfterMs: answer.retryAfterMs }
  const word = answer.body.state.toLowerCase()
  if (word === 'crashed') return { state: 'failed', message: `${machine.name} has crashed` }
  if (word !== 'running') return { state: 'starting', progress: word }
  if (machine.sshAccess) return running(machine.sshAccess.ip_address, machine.sshAccess.port)
  if (machine.ipAddress === '') return { state: 'starting', progress: 'waiting for an address' }
  return running(machine.ipAddress, 22)
}

const running = (hostname: string, port: number): MachineState => ({
  state: 'running',
  address: { hostname, port, username: 'hotaisle' },
})
