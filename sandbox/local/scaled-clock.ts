import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { z } from 'zod'
import type { Clock } from '../../lib/model/clock.ts'

/** At `real`, it was `sandbox` o'clock, and time ran `speed` times as fast. All in milliseconds since 1970. */
const anchor = z.object({ real: z.number(), sandbox: z.number(), speed: z.number().positive() })

export type ScaledClock = Clock & { speed: number }

/**
 * A clock that runs `speed` times as fast, and goes on where it was when the sandbox starts again on the same folder,
 * also with another speed. It never runs backwards.
 */
export const createScaledClock = (options: { folder: string; speed: number }): ScaledClock => {
  const file = join(options.folder, 'clock.json')
  const real = Date.now()
  const before = existsSync(file) ? anchor.parse(JSON.parse(readFileSync(file, 'utf8'))) : undefined
  const sandbox = before ? before.sandbox + (real - before.real) * before.speed : real
  writeFileAtomic.sync(
    file,
    JSON.stringify({ real, sandbox, speed: options.speed } satisfies z.infer<typeof anchor>),
  )
  return {
    speed: options.speed,
    now: () => Math.round(sandbox + (Date.now() - real) * options.speed),
  }
}
