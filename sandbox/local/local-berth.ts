import { mkdirSync, readFileSync } from 'node:fs'
import { createHandler as authorizeHandler } from '../../functions/authorize.ts'
import { createHandler as bootstrapHandler } from '../../functions/bootstrap.ts'
import { createHandler as checkHandler } from '../../functions/check.ts'
import { createHandler as fleetsHandler } from '../../functions/fleets.ts'
import { createHandler as instancesHandler } from '../../functions/instances.ts'
import { createHandler as offersHandler } from '../../functions/offers.ts'
import { createHandler as provisionHandler } from '../../functions/provision.ts'
import { createHandler as terminateHandler } from '../../functions/terminate.ts'
import type { Context } from '../../lib/context.ts'
import { messageOf } from '../../lib/model/errors.ts'
import type { Log } from '../../lib/model/log.ts'
import { type Settings, settings as settingsSchema } from '../../lib/model/settings.ts'
import { readSettings } from '../../lib/settings-file.ts'
import { createDynamoClient } from '../../lib/store/dynamo-client.ts'
import { wireContext } from '../../lib/wire-context.ts'
import { startDynamo } from './dynoxide.ts'
import { startHttpServer } from './http-server.ts'
import { invoke } from './invoke.ts'
import { sandboxPrivateKey, writeClientFile } from './keys.ts'
import { startQueues } from './queues.ts'
import { resume } from './resume.ts'
import { createScaledClock } from './scaled-clock.ts'
import { startSchedules } from './schedules.ts'
import { type CloudTimings, type SimulatedClouds, startSimulatedClouds } from './simulated-clouds.ts'

export type LocalOptions = {
  /** 0 takes a free one. */
  port: number
  /** Folder for everything that is kept. */
  data: string
  speed: number
  /** A `berth.yml` with real clouds; without one the clouds are simulated. */
  config?: string | undefined
  /** Real seconds between two sweeps. */
  sweepSeconds?: number | undefined
  dynamoEndpoint?: string | undefined
  /** How long the simulated clouds take for what they do. */
  cloudTimings?: CloudTimings
  log: Log
}

export type LocalBerth = {
  url: string
  apiKey: string
  context: Context
  clouds: SimulatedClouds | undefined
  /** What is wrong with credentials, a line each, with what to do. */
  warnings: string[]
  /** Lets the time of the sandbox run faster or slower from now on. */
  setSpeed(speed: number): void
  stop(): Promise<void>
}

/** How long one visit may take in real time before another may take over; at high speeds the lease grows with it. */
const realLeaseMs = 15_000
const leaseMs = 120_000

/**
 * The whole of Berth in one process: the functions that run on Lambda, on embedded engines. Started again on the same
 * folder it goes on where it was, however it ended.
 */
export const startLocalBerth = async (options: LocalOptions): Promise<LocalBerth> => {
  const { data, speed, log } = options
  if (options.config !== undefined && speed !== 1) {
    throw new Error(
      '--speed is for the simulated clouds; with --config time runs as it does. Leave one of them out.',
    )
  }
  const config = options.config === undefined ? undefined : await readConfig(options.config)
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const dynamo = await startDynamo({ folder: data, endpoint: options.dynamoEndpoint })
  const clock = createScaledClock({ folder: data, speed })
  const client = createDynamoClient(dynamo.config)
  const queues = await startQueues({ speed: clock.speed })
  const clouds = config
    ? undefined
    : await startSimulatedClouds({ folder: data, clock, timings: options.cloudTimings })
  const settings = config ?? settingsSchema.parse(clouds?.settings)
  const wired = await wireContext({
    settings,
    privateKey: settings.ssh.private_key ?? sandboxPrivateKey(data),
    dynamo: { client, table: dynamo.table },
    queues: queues.queues,
    clock,
    log,
  })
  const context: Context = {
    ...wired,
    get leaseMs() {
      return Math.max(leaseMs, realLeaseMs * clock.speed())
    },
  }

  const warnings = await checkBackends(context)
  if (clouds) await freshenCatalogues(context)
  // Before anything works: later, a lease may be one that this process has taken.
  await resume(context)
  const schedules = startSchedules(context, {
    sweepSeconds: options.sweepSeconds ?? Math.max(1, 60 / speed),
    reconcileSeconds: Math.max(1, 300 / speed),
    refreshCatalogues: config !== undefined,
  })
  const get = async () => context
  queues.consume(
    {
      provision: invoke('provision', provisionHandler(get)),
      bootstrap: invoke('bootstrap', bootstrapHandler(get)),
      check: invoke('check', checkHandler(get)),
      terminate: invoke('terminate', terminateHandler(get)),
    },
    (error) => log.warn('a queue failed', { error: messageOf(error) }),
  )
  const server = await startHttpServer({
    port: options.port,
    functions: {
      authorize: authorizeHandler(get),
      offers: invoke('offers', offersHandler(get)),
      instances: invoke('instances', instancesHandler(get)),
      fleets: invoke('fleets', fleetsHandler(get)),
    },
    onError: (error) => log.error('a request failed', { error }),
  })
  const { url, apiKey } = await writeClientFile(data, `http://127.0.0.1:${server.port}`, context.store)
  return {
    url,
    apiKey,
    context,
    clouds,
    warnings,
    setSpeed: clock.setSpeed,
    stop: async () => {
      schedules.stop()
      await server.stop()
      await queues.stop()
      await clouds?.stop()
      client.destroy()
      await dynamo.stop()
      clock.stop()
    },
  }
}

const readConfig = async (file: string): Promise<Settings> => {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(
      `The settings file ${file} cannot be read (${messageOf(error)}). Give its path with --config.`,
    )
  }
  return readSettings(text, file)
}

const checkBackends = async (context: Context): Promise<string[]> => {
  const answers = await Promise.all(
    context.backends.map(async ({ type, check }) => ({ type, checked: await check() })),
  )
  return answers.flatMap(({ type, checked }) => (checked.ok ? [] : [`${type}: ${checked.message}`]))
}

/** The prices of the simulated clouds are those that ship with the package, however old it is. */
const freshenCatalogues = async ({ backends, store, clock }: Context) => {
  for (const { type, published } of backends) {
    if (published) await store.catalogues.put(type, { ...published.shipped, madeAt: clock.now() })
  }
}
