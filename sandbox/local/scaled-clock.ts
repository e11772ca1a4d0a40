import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import * as z from 'zod'
import type { Clock } from '../../lib/model/clock.ts'

/** What time it was in the sandbox when it was last seen running. Milliseconds since 1970. */
const kept = z.object({ sandbox: z.number() })

/** How often the time is kept, and how far it is set forward at the next start, so that it never runs backwards. */
const beatMs = 250
const forwardMs = 1000

export type ScaledClock = Clock & {
  speed(): number
  setSpeed(speed: number): void
  stop(): void
}

/**
 * A clock that runs `speed` times as fast. It stands still while the sandbox is off, so that nothing runs into its
 * deadline meanwhile, and goes on from there at the next start on the same folder. With speed 1 from the first start
 * on, it is the clock of the day.
 */
export const createScaledClock = (options: { folder: string; speed: number }): ScaledClock => {
  const file = join(options.folder, 'clock.json')
  const before = existsSync(file) ? kept.parse(JSON.parse(readFileSync(file, 'utf8'))) : undefined
  let { speed } = options
  let real = Date.now()
  let sandbox = before ? before.sandbox + forwardMs * speed : real
  const now = () => Math.round(sandbox + (Date.now() - real) * speed)
  const keep = () =>
    writeFileAtomic.sync(file, JSON.stringify({ sandbox: now() } satisfies z.infer<typeof kept>))
  const isOwn = before !== undefined || speed !== 1
  if (isOwn) keep()
  const beat = isOwn ? setInterval(keep, beatMs) : undefined
  return {
    now,
    speed: () => speed,
    setSpeed: (next) => {
      sandbox = now()
      real = Date.now()
      speed = next
    },
    stop: () => {
      clearInterval(beat)
      if (isOwn) keep()
    },
  }
}
