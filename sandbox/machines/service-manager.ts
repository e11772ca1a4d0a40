import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

type Unit = { execStart: string; environment: Record<string, string>; restart: boolean; restartMs: number }
type Service = { child?: ChildProcess | undefined; timer?: NodeJS.Timeout | undefined; wanted: boolean }
type Result = { code: number; output: string }

type ServiceManager = {
  systemctl(args: string[]): Promise<Result>
  startEnabled(): void
  powerOff(): void
}

/** A little systemd: units of the machine's own folder, started, restarted and enabled as the real one does. */
export const createServiceManager = (options: {
  root: string
  environment: Record<string, string>
}): ServiceManager => {
  const units = join(options.root, 'etc/systemd/system')
  const wants = join(units, 'multi-user.target.wants')
  /** As read at boot and at daemon-reload: a file that changed later counts only then. */
  const loaded = new Map<string, Unit>()
  const services = new Map<string, Service>()

  const load = (name: string) => {
    const file = join(units, `${name}.service`)
    const known = loaded.get(name)
    if (known || !existsSync(file)) return known
    const unit = parseUnit(readFileSync(file, 'utf8'))
    loaded.set(name, unit)
    return unit
  }

  const run = (unit: Unit, service: Service) => {
    const child = spawn(join(options.root, unit.execStart), [], {
      cwd: options.root,
      env: { ...options.environment, ...unit.environment, BERTH_SUPERVISOR: 'systemd' },
      stdio: 'ignore',
    })
    service.child = child
    const ended = () => {
      if (service.child !== child) return
      service.child = undefined
      if (service.wanted && unit.restart) service.timer = setTimeout(() => run(unit, service), unit.restartMs)
    }
    child.on('error', ended)
    child.on('exit', ended)
  }

  const stop = async (name: string) => {
    const service = services.get(name)
    services.delete(name)
    if (!service) return
    service.wanted = false
    clearTimeout(service.timer)
    const { child } = service
    if (!child) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    if (child.kill('SIGTERM')) await gone
  }

  const start = (name: string, unit: Unit) => {
    if (services.get(name)?.wanted) return
    const service: Service = { wanted: true }
    services.set(name, service)
    run(unit, service)
  }

  const verbs: Record<string, (name: string, unit: Unit, now: boolean) => Result | Promise<Result>> = {
    start: (name, unit) => {
      start(name, unit)
      return done
    },
    stop: async (name) => {
      await stop(name)
      return done
    },
    restart: async (name, unit) => {
      await stop(name)
      start(name, unit)
      return done
    },
    enable: (name, unit, now) => {
      mkdirSync(wants, { recursive: true })
      writeFileSync(join(wants, `${name}.service`), '')
      if (now) start(name, unit)
      return done
    },
    disable: async (name, _unit, now) => {
      rmSync(join(wants, `${name}.service`), { force: true })
      if (now) await stop(name)
      return done
    },
    'is-enabled': (name) =>
      existsSync(join(wants, `${name}.service`)) ? said(0, 'enabled') : said(1, 'disabled'),
    'is-active': (name) =>
      services.get(name)?.child ? said(0, 'active') : said(3, services.has(name) ? 'activating' : 'inactive'),
    status: (name) => said(services.get(name)?.child ? 0 : 3, `${name}.service`),
  }

  return {
    systemctl: async (args) => {
      const flags = args.filter((arg) => arg.startsWith('-'))
      const [verb = '', written = ''] = args.filter((arg) => !arg.startsWith('-'))
      if (verb === 'daemon-reload') {
        loaded.clear()
        return done
      }
      const name = written.replace(/\.service$/, '')
      const unit = load(name)
      const act = verbs[verb]
      if (!act) return said(1, `Unknown command verb ${verb}.`)
      if (!unit) return said(verb === 'is-active' ? 3 : 5, `Unit ${name}.service could not be found.`)
      const result = await act(name, unit, flags.includes('--now'))
      return flags.includes('--quiet') ? { ...result, output: '' } : result
    },
    startEnabled: () => {
      for (const file of existsSync(wants) ? readdirSync(wants) : []) {
        const name = file.replace(/\.service$/, '')
        const unit = load(name)
        if (unit) start(name, unit)
      }
    },
    powerOff: () => {
      for (const service of services.values()) {
        service.wanted = false
        clearTimeout(service.timer)
        service.child?.kill('SIGKILL')
      }
      services.clear()
    },
  }
}

const done: Result = { code: 0, output: '' }

const said = (code: number, words: string): Result => ({ code, output: `${words}\n` })

const parseUnit = (text: string): Unit => {
  const values = (key: string) =>
    text.split('\n').flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : []))
  const environment = values('Environment').map((setting) => setting.replaceAll('%%', '%').split(/=(.*)/s))
  return {
    execStart: values('ExecStart')[0] ?? '',
    environment: Object.fromEntries(environment.map(([key = '', value = '']) => [key, value])),
    restart: values('Restart')[0] === 'always',
    restartMs: Number(values('RestartSec')[0] ?? 0.1) * 1000,
  }
}
