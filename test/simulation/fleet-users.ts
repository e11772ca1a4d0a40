import type { Context } from '../../lib/context.ts'
import { applyFleet } from '../../lib/lifecycle/apply-fleet.ts'
import { deleteFleet } from '../../lib/lifecycle/delete-fleet.ts'
import type { Fleet } from '../../lib/model/fleet.ts'
import { fleetFile } from '../../lib/model/fleet-file.ts'
import type { Dice } from '../support/dice.ts'
import type { Timeline } from './timeline.ts'

const minuteMs = 60_000

/** What people write into their fleet files here. */
const files: readonly [object, ...object[]] = [
  { nodes: 1, backends: ['hotaisle'], instance_types: ['bm-mi300x-8'], idle_duration: '10m' },
  { nodes: 2, backends: ['hotaisle'], resources: { gpu: 'MI300X:1' } },
  { nodes: 0, backends: ['hotaisle'] },
  { nodes: { min: 1, target: 2, max: 3 }, resources: { gpu: 'MI300X:1' }, idle_duration: '5m' },
  { nodes: { target: 2 }, backends: ['hotaisle'], instance_types: ['vm-mi300x-2'], idle_duration: 0 },
  { nodes: '1..2', backends: ['oci'], instance_types: ['VM.GPU.A10.1'], idle_duration: '10m' },
  { nodes: 1, backends: ['oci'], instance_types: ['VM.Standard2.1'], spot_policy: 'spot' },
]

/** People who keep fleets: they apply a file, apply it again or another one, and delete what they have. */
export const createFleetUsers = (parts: {
  timeline: Timeline
  dice: Dice
  ask: <Value>(what: string, id: string | undefined, work: (ctx: Context) => Promise<Value>) => Promise<void>
  fleets: () => Fleet[]
  tell: (line: string) => void
}) => {
  const { timeline, dice, ask, tell } = parts
  const later = (ms: number, action: () => void) => timeline.at(timeline.now() + ms, action)

  let isOver = false
  const apply = (name: string) => {
    if (isOver) return
    const file = { type: 'fleet', ...dice.pick(files) }
    tell(`USER applies ${name}: ${JSON.stringify(file)}`)
    const { spec } = fleetFile.parse(file)
    void ask('apply', undefined, (ctx) => applyFleet(ctx, name, spec, 'keeper'))
    if (dice.chance(0.3)) void ask('apply', undefined, (ctx) => applyFleet(ctx, name, spec, 'keeper'))
  }
  const drop = (name: string) => {
    tell(`USER deletes fleet ${name}`)
    void ask('drop', undefined, (ctx) => deleteFleet(ctx, name, 'keeper'))
  }

  return {
    /** So many fleets over that time. */
    come: (count: number, overMs: number) => {
      for (let number = 1; number <= count; number++) {
        const name = `fleet-${number}`
        const first = dice.int(0, overMs)
        later(first, () => apply(name))
        if (dice.chance(0.5)) later(first + dice.int(0, 90) * minuteMs, () => apply(name))
        if (dice.chance(0.3)) later(first + dice.int(0, 90) * minuteMs, () => drop(name))
      }
    },
    /** Nobody applies anything from now on. */
    removeAll: () => {
      isOver = true
      for (const { name } of parts.fleets()) drop(name)
    },
  }
}
