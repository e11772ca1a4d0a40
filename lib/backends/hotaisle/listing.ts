import type { MachineRef, OwnedListing } from '../backend.ts'
import { machine, type SeenMachine } from './answers.ts'
import type { Api } from './api.ts'
import { wordsOfAnswer } from './client.ts'
import { instanceTypeOf, type Kind, kindNames, region } from './kinds.ts'

export type Listing = {
  complete: boolean
  machines: SeenMachine[]
  message?: string
  retryAfterMs?: number | undefined
}

/** Every machine of a kind. A row that can't be read makes the listing incomplete: it could be any machine. */
export const listMachines = async (api: Api, kind: Kind): Promise<Listing> => {
  const answer = await api.list(kind)
  if (answer.kind !== 'ok') {
    const message = `${kindNames[kind]}s: ${wordsOfAnswer(answer)}`
    return { complete: false, machines: [], message, retryAfterMs: answer.retryAfterMs }
  }
  const read = answer.body.map((row) => machine.safeParse(row))
  const machines = read.flatMap((row) => (row.success ? [row.data] : []))
  const lost = read.length - machines.length
  if (lost === 0) return { complete: true, machines }
  return {
    complete: false,
    machines,
    message: `${kindNames[kind]}s: ${lost} of ${read.length} are unreadable`,
  }
}

/** Both kinds, whatever is offered: a machine may be older than the settings. */
export const listOwned = async (api: Api): Promise<OwnedListing> => {
  const [vms, servers] = await Promise.all([listMachines(api, 'vm'), listMachines(api, 'bm')])
  const message = [vms.message, servers.message].filter(Boolean).join('; ')
  return {
    complete: vms.complete && servers.complete,
    machines: [
      ...vms.machines.map((seen) => ({
        ...refOf('vm', seen),
        description: seen.description,
        ...(seen.description === '' && { nameless: true }),
      })),
      ...servers.machines.map((seen) => ({ ...refOf('bm', seen), description: seen.description })),
    ],
    ...(message === '' ? {} : { message }),
  }
}

/** How an existing machine is written down before a launch: by what names its rental, else by its name. */
export const idOf = (seen: SeenMachine): string => seen.deploymentId ?? `name:${seen.name}`

const refOf = (kind: Kind, seen: SeenMachine): MachineRef => ({
  region,
  instanceType: instanceTypeOf(kind, seen.gpuCount ?? 0),
  cloudId: seen.name,
  rentalId: seen.deploymentId,
})
