import type { Context } from '../../lib/context.ts'
import { claimInstance, releaseInstance } from '../../lib/lifecycle/claim.ts'
import { createInstance } from '../../lib/lifecycle/create.ts'
import { endByUser } from '../../lib/lifecycle/end.ts'
import { BerthError } from '../../lib/model/errors.ts'
import type { Fleet } from '../../lib/model/fleet.ts'
import type { Instance } from '../../lib/model/instance.ts'
import { createRequest } from '../../lib/model/request.ts'
import { sshPublicKey } from '../backends/hotaisle-stage.ts'
import type { Dice } from '../support/dice.ts'
import { createFleetUsers } from './fleet-users.ts'
import type { Functions } from './functions.ts'
import type { Guests } from './guests.ts'
import type { Promises } from './promises.ts'
import type { Timeline } from './timeline.ts'

const minuteMs = 60_000

/** What people ask for here; the first ones more often, and most know where it is to be had. */
const wishes = [
  { gpu: 'MI300X:1', backends: ['hotaisle'] },
  { gpu: 'MI300X:1', backends: ['hotaisle'] },
  { gpu: 'MI300X:2', backends: ['hotaisle'] },
  { gpu: 'MI300X:8', backends: ['hotaisle'] },
  { gpu: 'MI300X:1' },
  { gpu: '1' },
  { instanceTypes: ['VM.GPU.A10.1'], backends: ['oci'] },
  { instanceTypes: ['VM.GPU.A10.1'], backends: ['oci'] },
  { instanceTypes: ['VM.Standard2.1'], spotPolicy: 'spot', backends: ['oci'] },
  { instanceTypes: ['BM.GPU.A10.4'], backends: ['oci'] },
  { instanceTypes: ['BM.GPU.A10.4'], backends: ['oci'] },
] as const

/** People and their programs: they rent, come or don't, claim, release and delete, and ask again when no answer comes. */
export const createUsers = (parts: {
  timeline: Timeline
  dice: Dice
  functions: Functions
  promises: Promises
  guests: Guests
  records: () => Instance[]
  fleets: () => Fleet[]
  tell: (line: string) => void
}) => {
  const { timeline, dice, functions, promises, guests, tell } = parts
  const within = (least: number, most: number) => dice.int(least * minuteMs, most * minuteMs)
  const later = (ms: number, action: () => void) => timeline.at(timeline.now() + ms, action)

  /** Calls the API until an answer comes: one that says no is an answer too. */
  const ask = async <Value>(
    what: string,
    id: string | undefined,
    work: (ctx: Context) => Promise<Value>,
    answered: (value: Value) => void = () => {},
  ): Promise<void> => {
    const outcome = await functions.invoke(what, id, work)
    if (outcome.outcome === 'done') return answered(outcome.value)
    if (outcome.outcome === 'failed' && outcome.error instanceof BerthError) return
    later(dice.int(2000, 60_000), () => void ask(what, id, work, answered))
  }
  const keepers = createFleetUsers({ ...parts, ask })
  const known = async (ctx: Context, id: string): Promise<Instance> => {
    const instance = await ctx.store.get(id)
    if (!instance) throw new BerthError('not_found', `There is no instance ${id}.`)
    return instance
  }
  const release = (id: string, holder: string) =>
    void ask('release', id, async (ctx) => releaseInstance(ctx, await known(ctx, id), holder))

  const remove = (id: string, force: boolean) => {
    if (force) promises.forced.add(id)
    tell(`USER deletes ${id}${force ? ' by force' : ''}`)
    void ask('delete', id, async (ctx) => endByUser(ctx, await known(ctx, id), { holder: 'somebody', force }))
  }

  /** Once the machine is the holder's, it works on it, or nobody ever comes. */
  const follow = (id: string, holder: string) => {
    const record = parts.records().find((each) => each.id === id)
    if (!record || record.status === 'terminating' || record.status === 'terminated') return
    const machineId =
      record.status === 'busy' && record.claim?.holder === holder ? guests.machineIdOf(record) : undefined
    if (machineId === undefined) return later(within(1, 3), () => follow(id, holder))
    if (dice.chance(0.25)) return
    later(within(0, 8), () => {
      guests.use(machineId)
      later(within(6, 60), () => {
        guests.leave(machineId)
        if (dice.chance(0.5)) release(id, holder)
      })
    })
  }

  const rent = (number: number) => {
    const holder = `user-${number}`
    const key = `key-${number}`
    const request = createRequest.parse({
      ...dice.pick(wishes),
      idleDuration: dice.pick(['5m', '5m', '0', '30m', 'off']),
      maxDuration: dice.pick(['off', 'off', '30m', '3h']),
      claim: dice.chance(0.8),
      reuse: dice.chance(0.8),
      sshKeys: dice.chance(0.5) ? [sshPublicKey] : [],
    })
    tell(`USER ${holder} asks for ${JSON.stringify(request)}`)
    void ask(
      'create',
      undefined,
      (ctx) => createInstance(ctx, request, { name: holder, idempotencyKey: key }),
      ({ id }) => {
        tell(`USER ${holder} has ${id}`)
        promises.answered(key, id)
        if (dice.chance(0.15))
          void ask(
            'create',
            undefined,
            (ctx) => createInstance(ctx, request, { name: holder, idempotencyKey: key }),
            (again) => promises.answered(key, again.id),
          )
        if (request.claim) follow(id, holder)
        if (dice.chance(0.35)) later(within(0, 90), () => remove(id, dice.chance(0.4)))
      },
    )
  }

  /** Somebody who looks what is idle, and takes it. */
  const claim = (number: number) => {
    // Some try one that somebody has.
    const status = dice.chance(0.7) ? 'idle' : 'busy'
    const [first, ...others] = parts.records().filter((record) => record.status === status)
    if (!first) return
    const { id } = dice.pick([first, ...others])
    const holder = `claimer-${number}`
    void ask(
      'claim',
      id,
      async (ctx) => claimInstance(ctx, await known(ctx, id), { holder }),
      () => follow(id, holder),
    )
  }

  return {
    /** So many requests and claims over that time. */
    come: (requests: number, overMs: number) => {
      for (let number = 1; number <= requests; number++) {
        later(dice.int(0, overMs), () => rent(number))
        for (let twice = 0; twice < 2; twice++)
          later(dice.int(0, 2 * overMs), () => claim(number * 2 + twice))
      }
    },
    /** So many fleets over that time. */
    keepFleets: keepers.come,
    /** Everything is given up, for the most part without force. */
    removeAll: () => {
      keepers.removeAll()
      for (const { id, status } of parts.records()) if (status !== 'terminated') remove(id, dice.chance(0.3))
    },
  }
}
