import type { Backend } from './backends/backend.ts'
import type { Clock } from './model/clock.ts'
import type { Log } from './model/log.ts'
import type { Random } from './model/random.ts'
import type { Settings } from './model/settings.ts'
import type { Queues } from './queues/queues.ts'
import type { Shim } from './shim/shim.ts'
import type { Store } from './store/store.ts'

/** Everything that the lifecycle touches, handed in: the clouds, the state, the way to machines, time and chance. */
export interface Context {
  settings: Pick<Settings, 'idle' | 'api' | 'limits'>
  store: Store
  queues: Queues
  backends: Backend[]
  shim: Shim
  clock: Clock
  random: Random
  log: Log
  /**
   * How long a handler may work on an instance before another may take over, in milliseconds of `clock`. Longer than
   * any handler's time-out: 120 s where functions end after 100 s.
   */
  leaseMs: number
}
