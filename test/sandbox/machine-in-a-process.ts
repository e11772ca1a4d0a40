// A sandbox of one machine in a process of its own, for tests that kill it. Says where its agent is, then stays.

import { createSshShim } from '../../lib/shim/ssh-shim.ts'
import { createMachineHost } from '../../sandbox/machines/machine-host-local.ts'
import { berthKey, mi300x, shimSettings } from '../simulated-machines.ts'

const [folder = '', init] = process.argv.slice(2)
const host = createMachineHost({ folder, init: init === 'none' ? 'none' : 'systemd' })
const target = await host.start({
  id: 'm',
  username: 'hotaisle',
  authorizedKeys: [berthKey.publicKey],
  hardware: mi300x,
})
const session = await createSshShim({ privateKey: berthKey.privateKey, shim: shimSettings }).connect({
  ...target,
  username: 'hotaisle',
})
await session.bootstrap()
const waiting = setInterval(() => {
  const agentPid = host.machine('m').agentPid()
  if (agentPid === undefined) return
  clearInterval(waiting)
  console.log(JSON.stringify({ agentPid, port: target.port, privateKey: berthKey.privateKey }))
}, 10)
