import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { z } from 'zod'
import type { Clock } from '../../lib/model/clock.ts'

/** What time it was in the sandbox when it was last seen running. Milliseconds since 1970. */
const kept = z.object({ sandbox: z.number() })

/** How often the time is kept, and how far it is set forward at the next start, so that it never runs backwards. */
const beatMs = 250
const forwardMs = 1000

export type ScaledClock = Clock & { stop(): void }

/**
 * A clock that runs `speed` times as fast. It stands still while the sandbox is off, so that nothing runs into its
 * deadline meanwhile, and goes on from there at the next start on the same folder. With speed 1 from the first start
 * on, it is the clock of the day.
 */
export const createScaledClock = (options: { folder: string; speed: number }): ScaledClock => {
  const { folder, speed } = options
  const file = join(folder, 'clock.json')
  const real = Date.now()
  if (speed === 1 && !existsSync(file)) return { now: () => Date.now(), stop: () => {} }
  const before = existsSync(file) ? kept.parse(JSON.parse(readFileSync(file, 'utf8'))) : undefined
  const sandbox = before ? before.sandbox + forwardMs * speed : real
  const now = () => Math.round(sandbox + (Date.now() - real) * speed)
  const keep = () =>
    writeFileAtomic.sync(file, JSON.stringify({ sandbox: now() } satisfies z.infer<typeof kept>))
  keep()
  const beat = setInterval(keep, beatMs)
  return {
    now,
    stop: () => {
      clearInterval(beat)
      keep()
    },
  }
}
