import type * as z from 'zod'
import { balance, list, machine, noBody, sshKeys, user, vmState } from './answers.ts'
import type { Client } from './client.ts'
import type { Kind } from './kinds.ts'

/** Milliseconds. A DELETE answers only when the machine is wiped (minutes), so it is cut off early. */
export type Timeouts = { readMs: number; createMs: number; deleteMs: number }

export const defaultTimeouts: Timeouts = { readMs: 15_000, createMs: 30_000, deleteMs: 10_000 }

/** The calls that Berth makes, each with its path and the shape of its answer. */
export const createApi = (client: Client, team: string, { readMs, createMs, deleteMs }: Timeouts) => {
  const inTeam = `/teams/${encodeURIComponent(team)}`
  const read = { timeoutMs: readMs }
  const kindPath = (kind: Kind) => `${inTeam}/${kind === 'vm' ? 'virtual_machines' : 'bare_metal'}/`
  const machinePath = (kind: Kind, name: string) => `${kindPath(kind)}${encodeURIComponent(name)}/`
  return {
    user: () => client('GET', '/user/', user, read),
    sshKeys: () => client('GET', '/user/ssh_keys/', sshKeys, read),
    addSshKey: (authorizedKey: string) =>
      client('POST', '/user/ssh_keys/', noBody, { ...read, json: { authorized_key: authorizedKey } }),
    balance: () => client('GET', `${inTeam}/balance/`, balance, read),
    available: (kind: Kind) => client('GET', `${kindPath(kind)}available/`, list, read),
    list: (kind: Kind) => client('GET', kindPath(kind), list, read),
    get: (kind: Kind, name: string) => client('GET', machinePath(kind, name), machine, read),
    vmState: (name: string) => client('GET', `${machinePath('vm', name)}state/`, vmState, read),
    /** The paid one. */
    create: (kind: Kind, json: z.core.util.JSONType) =>
      client('POST', kindPath(kind), machine, { timeoutMs: createMs, json }),
    describe: (kind: Kind, name: string, description: string) =>
      client('PATCH', machinePath(kind, name), noBody, { ...read, json: { description } }),
    reinstall: (server: string) =>
      client('POST', `${machinePath('bm', server)}reinstall/`, noBody, { ...read, json: {} }),
    remove: (kind: Kind, name: string, { force }: { force: boolean }) =>
      client('DELETE', `${machinePath(kind, name)}${force ? '?force=true' : ''}`, noBody, {
        timeoutMs: deleteMs,
      }),
  }
}
export type Api = ReturnType<typeof createApi>
