import type { Backend } from '../../lib/backends/backend.ts'
import { reconcile } from '../../lib/lifecycle/reconcile.ts'
import type { Alarm } from '../../lib/model/alarm.ts'
import type { Instance } from '../../lib/model/instance.ts'
import { formatMark } from '../../lib/model/mark.ts'
import { defaultStock } from '../../sandbox/clouds/hotaisle/stock.ts'
import { rent as rentHotAisle } from '../backends/hotaisle-stage.ts'
import { rent as rentOci } from '../backends/oci-stage.ts'
import type { World } from './world.ts'

/** A world with both clouds in which the lists are held against the table, and machines come from elsewhere. */
export const reconciling = (w: World) => {
  const { oci, ctx } = w
  if (!oci) throw new Error('this world has no OCI')
  const alarms: ({ name: Alarm; message: string } & Record<string, unknown>)[] = []
  const { alarm } = ctx.log
  ctx.log.alarm = (name, message, fields) => {
    alarms.push({ name, message, ...fields })
    alarm(name, message, fields)
  }
  const backendOf = (type: Backend['type']): Backend => {
    const backend = ctx.backends.find((each) => each.type === type)
    if (!backend) throw new Error(`this world has no ${type}`)
    return backend
  }

  return {
    ...w,
    oracle: oci.cloud,
    alarms,
    alarmsOf: (name: Alarm) => alarms.filter((each) => each.name === name),
    markOf: async (instanceId = 'i-00000000abcd', attempt = 1) =>
      formatMark({ owner: await ctx.store.owner(), instanceId, attempt }),
    reconcile: () => reconcile(ctx),
    /** Lets so many minutes go by, with a reconcile at each fifth. */
    pass: async (minutes: number) => {
      for (let at = 0; at < minutes; at += 5) {
        await w.run(5)
        await reconcile(ctx)
      }
    },
    /** Rents past the table, as a launch that nobody knows of. */
    rentPast: {
      hotaisle: (type: string, mark: string) =>
        rentHotAisle({ backend: backendOf('hotaisle'), clock: w.clock }, type, mark),
      oci: (shape: string, mark: string) =>
        rentOci({ backend: backendOf('oci'), clock: w.clock }, shape, { mark }),
    },
    /** A call as a person makes it in Hot Aisle's console. */
    byHand: async (method: string, path: string, body?: unknown): Promise<void> => {
      const answer = await fetch(`${w.cloud.url}/teams/${w.cloud.team}/${path}`, {
        method,
        headers: { authorization: `Token ${w.cloud.apiKey}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    },
    /** Replaces parts of one backend. */
    alter: (type: Backend['type'], change: (backend: Backend) => Partial<Backend>): void => {
      ctx.backends = ctx.backends.map((each) => (each.type === type ? { ...each, ...change(each) } : each))
    },
    living: () => oci.cloud.ledger().filter(({ endedAt }) => endedAt === null),
    /** As if a person had edited the table. */
    terminateByHand: async (id: string): Promise<void> => {
      const record = await w.show(id)
      const next: Instance = {
        ...record,
        status: 'terminated',
        phase: undefined,
        claim: undefined,
        intent: undefined,
        nextCheckAt: undefined,
        sweepAt: undefined,
      }
      if (!(await ctx.store.update(record, next))) throw new Error(`${id} was changed meanwhile`)
    },
  }
}
export type ReconcilingWorld = ReturnType<typeof reconciling>

/** What the console asks for: a single-GPU VM, a bare metal server. */
export const specsOf = (kind: 'vm' | 'bm') => {
  const row = defaultStock.find((each) => each.kind === kind)
  if (!row) throw new Error(`there is no ${kind} in stock`)
  return row.specs
}

export const a10 = { gpu: 'A10:1' }
