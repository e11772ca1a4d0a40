import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { z } from 'zod'
import type { Clock } from '../../lib/model/clock.ts'
import type { settings } from '../../lib/model/settings.ts'
import {
  type SimulatedHotAisle,
  type SimulatedHotAisleOptions,
  startSimulatedHotAisle,
} from '../clouds/hotaisle/simulated-hot-aisle.ts'
import { createMachineHost } from '../machines/machine-host-local.ts'

export type CloudTimings = { hotaisle?: SimulatedHotAisleOptions['timings'] }

export type SimulatedClouds = {
  hotaisle: SimulatedHotAisle
  machines: ReturnType<typeof createMachineHost>
  /** What `berth.yml` would say of them. */
  settings: z.input<typeof settings>
  stop(): Promise<void>
}

/** The clouds and the machines in them, with what they remember in `folder`. */
export const startSimulatedClouds = async (options: {
  folder: string
  clock: Clock
  timings?: CloudTimings | undefined
}): Promise<SimulatedClouds> => {
  const cloudsFolder = join(options.folder, 'clouds')
  mkdirSync(cloudsFolder, { recursive: true })
  const machines = createMachineHost({ folder: join(options.folder, 'machines') })
  const hotaisle = await startSimulatedHotAisle({
    clock: options.clock,
    machines,
    stateFile: join(cloudsFolder, 'hotaisle.json'),
    timings: options.timings?.hotaisle ?? {},
  })
  return {
    hotaisle,
    machines,
    settings: {
      backends: [
        {
          type: 'hotaisle',
          team_handle: hotaisle.team,
          creds: { type: 'api_key', api_key: hotaisle.apiKey },
          bare_metal: true,
          api_url: hotaisle.url,
        },
      ],
    },
    stop: async () => {
      await hotaisle.stop()
      await machines.close()
    },
  }
}
