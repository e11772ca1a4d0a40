import { setTimeout } from 'node:timers/promises'
import type { ShimSettings } from '../model/settings.ts'
import { activityCommand, parseActivity, registerCommand } from './activity.ts'
import { authorizeCommand } from './authorized-keys.ts'
import { bootstrapScript } from './bootstrap-script.ts'
import { hardwareCommand, parseHardware } from './hardware.ts'
import { publicKeyOf } from './public-key.ts'
import { type Shim, type ShimHealth, type ShimSession, ShimUnreachable } from './shim.ts'
import { createShimClient, type ShimClient, shimPort } from './shim-client.ts'
import { connectSsh, type SshConnection } from './ssh.ts'

export type ShimTimeouts = {
  connectMs: number
  commandMs: number
  bootstrapMs: number
  /** One call of the agent's API. */
  agentMs: number
}

export type SshShimOptions = {
  /** In OpenSSH or PEM format, without a passphrase. */
  privateKey: string
  shim: ShimSettings
  timeouts?: Partial<ShimTimeouts>
}

/**
 * Together well under the 100 s that a function has. A script that takes longer goes on without its connection, and
 * the next visit finds what it did.
 */
const usual: ShimTimeouts = { connectMs: 10_000, commandMs: 20_000, bootstrapMs: 60_000, agentMs: 5000 }

/** How long an agent that was just started may take until it answers, and how often it is asked meanwhile. */
const agentStartMs = 8000
const agentPollMs = 100

/** The way to machines over SSH. Throws at once when the private key can't be read. */
export const createSshShim = (options: SshShimOptions): Shim => {
  const timeouts = { ...usual, ...options.timeouts }
  const ownKey = publicKeyOf(options.privateKey)
  const script = bootstrapScript(options.shim)
  return {
    connect: async (target) => {
      const connection = await connectSsh(target, {
        privateKey: options.privateKey,
        connectMs: timeouts.connectMs,
      })
      try {
        await connection.exec(registerCommand, { timeoutMs: timeouts.connectMs })
      } catch (error) {
        connection.close()
        throw error
      }
      return sessionOf(connection, { timeouts, ownKey, script })
    },
  }
}

const sessionOf = (
  connection: SshConnection,
  { timeouts, ownKey, script }: { timeouts: ShimTimeouts; ownKey: string; script: string },
): ShimSession => {
  const agent = createShimClient({
    open: () => connection.forward(shimPort, { timeoutMs: timeouts.agentMs }),
    timeoutMs: timeouts.agentMs,
  })
  const ask = async (command: string) =>
    (await connection.exec(command, { timeoutMs: timeouts.commandMs })).stdout
  return {
    hostKeyFingerprint: connection.hostKeyFingerprint,
    bootstrap: async () => {
      const { code, stdout, stderr } = await connection.exec('bash -s', {
        input: script,
        timeoutMs: timeouts.bootstrapMs,
      })
      if (code === 0) await untilAnswering(agent)
      return { ok: code === 0, output: lastLines(`${stderr.trim()}\n${stdout.trim()}`) }
    },
    health: async () => {
      const { version } = await agent.healthcheck()
      return { version, gpuHealth: gpuHealthOf(await agent.instanceHealth()) }
    },
    hardware: async () => parseHardware(await ask(hardwareCommand)),
    activity: async () => {
      const tasks = await agent.tasks()
      const seen = parseActivity(await ask(activityCommand))
      return { runningTasks: tasks.filter((task) => task.status !== 'terminated').length, ...seen }
    },
    authorizeKeys: async (keys) => {
      const { command, input } = authorizeCommand(ownKey, keys)
      const { code, stderr } = await connection.exec(command, { input, timeoutMs: timeouts.commandMs })
      if (code === 0) return
      throw new ShimUnreachable('unreachable', `the SSH keys could not be written: ${lastLines(stderr)}`)
    },
    close: () => connection.close(),
  }
}

/** Gives the agent the moment that it needs to start; whether it did is for `health` to say. */
const untilAnswering = async (agent: ShimClient): Promise<void> => {
  for (let waited = 0; waited < agentStartMs; waited += agentPollMs) {
    try {
      await agent.healthcheck()
      return
    } catch (error) {
      if (!(error instanceof ShimUnreachable) || error.kind !== 'agent') throw error
    }
    await setTimeout(agentPollMs)
  }
}

const gpuHealthOf = ({
  dcgm,
}: Awaited<ReturnType<ReturnType<typeof createShimClient>['instanceHealth']>>): ShimHealth['gpuHealth'] =>
  dcgm
    ? {
        level: dcgm.overall_health,
        incidents: (dcgm.incidents ?? []).map(({ system, error_message }) =>
          [system, error_message].filter(Boolean).join(': '),
        ),
      }
    : undefined

/** Enough to see what happened, short enough for an event. */
const lastLines = (text: string) => text.trim().split('\n').slice(-12).join('\n').slice(-2000)
