import { type Shim, ShimUnreachable } from '../../lib/shim/shim.ts'
import type { Faults } from './faults.ts'
import type { Call } from './network.ts'
import type { Timeline } from './timeline.ts'

/** The way to the machines over a network, and agents that do not always answer. */
export const faultyShim = (
  shim: Shim,
  { call, faults, timeline }: { call: Call; faults: Faults; timeline: Timeline },
): Shim => ({
  connect: (target) =>
    call('SSH connection', async () => {
      if (faults.strikes('SSH: refused')) throw unreachable('connection refused')
      if (faults.strikes('SSH: rejects the key')) throw unreachable('authentication failed')
      if (faults.strikes('SSH: hangs')) {
        await timeline.sleep(20_000)
        throw unreachable('timed out')
      }
      const session = await shim.connect(target)
      const ask = <Value>(name: string, question: () => Promise<Value>) =>
        call(name, async () => {
          if (faults.strikes('agent: silent once')) throw new ShimUnreachable('agent', 'no answer in time')
          return question()
        })
      return {
        hostKeyFingerprint: session.hostKeyFingerprint,
        bootstrap: () => call('bootstrap script', () => session.bootstrap()),
        health: () => ask('agent health', () => session.health()),
        hardware: () => ask('hardware check', () => session.hardware()),
        activity: () => ask('activity check', () => session.activity()),
        authorizeKeys: (keys) => ask('SSH keys', () => session.authorizeKeys(keys)),
        close: () => session.close(),
      }
    }),
})

const unreachable = (words: string) => new ShimUnreachable('unreachable', words)
