import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { openControlServer } from './control-server.ts'
import { type MachineFolder, openMachineFolder, powerOnFolder } from './machine-folder.ts'
import type { MachineHost, MachineSpec } from './machine-host.ts'
import { endProcessesOf } from './processes.ts'
import { createServiceManager } from './service-manager.ts'
import { openSshServer } from './ssh-server.ts'
import { runUserData } from './user-data.ts'

/** What a test, or the sandbox's own switches, can do to a machine that is on. */
type SimulatedMachine = {
  folder: string
  addTask(id: string, status?: string): void
  endTask(id: string): void
  /** How busy every GPU says it is; `N/A` is a tool that can't say. */
  setGpuPercent(percent: number | 'N/A'): void
  /** The GPU tool fails with these words. */
  setGpuError(words: string | undefined): void
  /** What dcgm says through the agent: 0 well, 10 warning, 20 failure, with an incident for anything but well. */
  setGpuHealth(level: 0 | 10 | 20): void
  /** Downloads are answered with this HTTP status. */
  setDownloadFault(status: number | undefined): void
  /** Every download asked for, oldest first. */
  downloads(): string[]
  agentPid(): number | undefined
  /** False where none ran. Its supervisor brings it back. */
  killAgent(): boolean
  /** The agent runs but answers HTTP 500, or nothing at all. */
  breakAgent(how: 'error' | 'hang' | undefined): void
  openSessions(): number
  setSshTrouble(trouble: NonNullable<MachineSpec['sshTrouble']>): void
}

type LocalMachineHost = MachineHost & {
  /** Throws for a machine that is off. */
  machine(id: string): SimulatedMachine
  /** Powers all machines off; their disks stay. */
  close(): Promise<void>
}

type Running = SimulatedMachine & { hostname: string; port: number; powerOff(): Promise<void> }

/** Machines that are folders under `folder`. `init: 'none'` gives them an image without systemd. */
export const createMachineHost = (options: {
  folder: string
  init?: 'systemd' | 'none'
}): LocalMachineHost => {
  const starting = new Map<string, Promise<Running>>()
  const running = new Map<string, Running>()
  const folderOf = (id: string) => {
    if (!/^[A-Za-z0-9][\w.-]*$/.test(id)) throw new Error(`"${id}" cannot name a simulated machine`)
    return openMachineFolder(resolve(options.folder, id))
  }
  const stop: MachineHost['stop'] = async (id, { wipe }) => {
    const machine = folderOf(id)
    const on = await starting.get(id)?.catch(() => undefined)
    starting.delete(id)
    running.delete(id)
    await on?.powerOff()
    if (wipe) machine.wipe()
  }
  return {
    start: async (spec) => {
      const begun = starting.get(spec.id) ?? powerOn(folderOf(spec.id), spec, options.init ?? 'systemd')
      starting.set(spec.id, begun)
      try {
        const on = await begun
        if (starting.get(spec.id) === begun) running.set(spec.id, on)
        return { hostname: on.hostname, port: on.port }
      } catch (error) {
        if (starting.get(spec.id) === begun) starting.delete(spec.id)
        throw error
      }
    },
    stop,
    machine: (id) => {
      const on = running.get(id)
      if (!on) throw new Error(`the simulated machine ${id} is off`)
      return on
    },
    close: async () => {
      await Promise.all([...starting.keys()].map((id) => stop(id, { wipe: false })))
    },
  }
}

const powerOn = async (
  machine: MachineFolder,
  spec: MachineSpec,
  init: 'systemd' | 'none',
): Promise<Running> => {
  const isNew = !existsSync(machine.folder)
  mkdirSync(machine.folder, { recursive: true })
  // What a sandbox that was killed left behind would go on writing into the folder.
  await endProcessesOf(machine.root)
  powerOnFolder(machine, spec, init)
  if (isNew) machine.remember({ trouble: spec.sshTrouble ?? [] })
  const environment = {
    PATH: `${machine.bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    BERTH_ROOT: machine.root,
    HOME: machine.home,
    LANG: 'C.UTF-8',
  }
  const asRoot = { ...environment, USER: 'root', BERTH_SUDO: '1' }
  const services = createServiceManager({ root: machine.root, environment: asRoot })
  const control = await openControlServer({ systemctl: services.systemctl })
  machine.setState('control-port', String(control.port))
  const ssh = await openSshServer({
    machine,
    username: spec.username,
    ...(spec.listen ? { listen: spec.listen } : {}),
    environment: {
      ...environment,
      USER: spec.username,
      LOGNAME: spec.username,
      SHELL: '/bin/bash',
      TERM: 'xterm',
    },
    trouble: () => {
      const [next, ...rest] = machine.recall().trouble ?? []
      if (next) machine.remember({ trouble: rest })
      return next
    },
    forwardTo: (port) => {
      const agent = control.agent()
      return agent?.port === port ? agent.listensOn : undefined
    },
  })
  if (init === 'systemd') services.startEnabled()
  if (isNew && spec.userData !== undefined) runUserData(machine, spec.userData, asRoot)
  return {
    ...switchesOf(machine),
    hostname: spec.listen?.host ?? '127.0.0.1',
    port: ssh.port,
    agentPid: () => control.agent()?.pid,
    killAgent: () => {
      const pid = control.agent()?.pid
      return pid !== undefined && process.kill(pid, 'SIGKILL')
    },
    openSessions: ssh.openSessions,
    powerOff: async () => {
      services.powerOff()
      await Promise.all([ssh.close(), control.close()])
      await endProcessesOf(machine.root)
    },
  }
}

const tasks = z.array(z.object({ id: z.string(), status: z.string() }))

const switchesOf = (machine: MachineFolder) => {
  const file = machine.at('state', 'tasks.json')
  const readTasks = () => (existsSync(file) ? tasks.parse(JSON.parse(readFileSync(file, 'utf8'))) : [])
  const setTask = (id: string, status: string) =>
    writeFileSync(file, JSON.stringify([...readTasks().filter((task) => task.id !== id), { id, status }]))
  return {
    folder: machine.folder,
    addTask: (id: string, status = 'running') => setTask(id, status),
    endTask: (id: string) => setTask(id, 'terminated'),
    setGpuPercent: (percent: number | 'N/A') => machine.setState('gpu-percent', String(percent)),
    setGpuError: (words: string | undefined) => machine.setState('gpu-error', words),
    setGpuHealth: (level: 0 | 10 | 20) => {
      const incidents =
        level === 0 ? [] : [{ system: 'NVLINK', health: level, error_message: 'a link is down' }]
      machine.setState('gpu-health.json', JSON.stringify({ overall_health: level, incidents }))
    },
    setDownloadFault: (status: number | undefined) => machine.setState('download-fault', status?.toString()),
    downloads: () => {
      const list = join(machine.folder, 'state/downloads')
      return existsSync(list) ? readFileSync(list, 'utf8').trim().split('\n') : []
    },
    breakAgent: (how: 'error' | 'hang' | undefined) => machine.setState('agent-fault', how),
    setSshTrouble: (trouble: NonNullable<MachineSpec['sshTrouble']>) => machine.remember({ trouble }),
  }
}
