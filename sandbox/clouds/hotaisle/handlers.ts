import * as z from 'zod'
import type { Clock } from '../../../lib/model/clock.ts'
import { balanceOf } from './billing.ts'
import type { Endpoint } from './faults.ts'
import type { Rentals } from './rentals.ts'
import type { CloudState, SimulatedRental } from './state.ts'
import { listBody, machineBody, sshKeyBody, stockBody, userBody, vmStateBody } from './wire.ts'

export type Reply = {
  status: number
  /** JSON for what worked, plain text for what did not. */
  body?: unknown
  text?: string
  /** The answer is held back until this says yes. */
  until?: () => boolean
}

export type Call = { name: string; query: URLSearchParams; body: unknown }

export const refusals = {
  400: 'Bad Request: Invalid input',
  401: 'Unauthorized',
  403: 'Forbidden: Permission denied',
  404: 'Not Found: Resource not found',
  405: 'Method Not Allowed',
  422: 'Unprocessable Entity: Invalid data format',
} as const

export const refuse = (status: keyof typeof refusals, text: string = refusals[status]): Reply => ({
  status,
  text,
})

/** What each call does, once the token and the team are known to be right. */
export const createHandlers = (parts: {
  state: CloudState
  save: () => void
  clock: Clock
  rentals: Rentals
  team: string
  deleteAnswers: 'at_once' | 'when_done'
}) => {
  const { state, save, clock, rentals, team } = parts
  const account = () => state.account
  const now = () => clock.now()

  const list = (kind: Kind): Reply =>
    ok(listBody(rentals.shown(kind).map((rental) => machineBody(rental, now()))))
  const available = (kind: Kind): Reply => ok(listBody(rentals.stock(kind).map(stockBody)))

  const withMachine =
    (kind: Kind, handle: (rental: SimulatedRental, call: Call) => Reply | Promise<Reply>) => (call: Call) => {
      const rental = rentals.shown(kind).find(({ name }) => name === call.name)
      return rental ? handle(rental, call) : refuse(404)
    }

  const asOperator = (handle: (call: Call) => Reply | Promise<Reply>) => (call: Call) =>
    account().roles.includes('operator') ? handle(call) : refuse(403)

  const show = (kind: Kind) => withMachine(kind, (rental) => ok(machineBody(rental, now())))

  const describe = (kind: Kind) =>
    withMachine(kind, (rental, { body }) => {
      const update = z.object({ description: z.string().optional() }).safeParse(body)
      if (!update.success) return refuse(400)
      if (update.data.description !== undefined) rentals.describe(rental, update.data.description)
      return { status: 204 }
    })

  const release = (kind: Kind) =>
    withMachine(kind, async (rental, { query }) => {
      const force = query.get('force') ?? 'false'
      if (force !== 'true' && force !== 'false') return refuse(422)
      if (rental.endedAt === null && force === 'false' && rentals.isInsideMinimum(rental)) {
        return refuse(400, 'Bad Request: minimum reservation time has not been met')
      }
      await rentals.release(rental)
      const isGone = () => now() >= (rental.goneAt ?? 0)
      return parts.deleteAnswers === 'at_once' ? { status: 204 } : { status: 204, until: isGone }
    })

  const createVm = ({ body }: Call): Reply => {
    const request = vmRequest.safeParse(body)
    if (!request.success) return refuse(isObject(body) ? 422 : 400)
    if (account().sshKeys.length === 0) {
      return { status: 428, text: 'Precondition Required: add an SSH key to your account first' }
    }
    if (rentals.shown('vm').length >= account().maximumVirtualMachines) {
      return refuse(401, 'Maximum VMs already provisioned for this team')
    }
    const { user_data_url: userData, ...specs } = request.data
    return created('vm', rentals.create('vm', dropUndefined(specs), { description: '', slow: !!userData }))
  }

  const createServer = ({ body }: Call): Reply => {
    const request = serverRequest.safeParse(body)
    if (!request.success) return refuse(400, 'Bad Request: invalid specifications or insufficient resources')
    if (rentals.shown('bm').length >= account().maximumBareMetalServers) {
      return refuse(403, 'Forbidden: tenant limit exceeded')
    }
    const { description = '', specs } = request.data
    return created('bm', rentals.create('bm', dropUndefined(specs), { description, slow: false }))
  }

  const created = (kind: Kind, outcome: ReturnType<Rentals['create']>): Reply => {
    if (outcome === 'no_match') return refuse(404, 'Not Found: nothing available matches the specifications')
    if (outcome === 'no_balance') return { status: 402, text: 'Payment Required: insufficient balance' }
    return { status: kind === 'vm' ? 200 : 201, body: machineBody(outcome, now()) }
  }

  const addSshKey = ({ body }: Call): Reply => {
    if (account().userRole !== 'owner') return refuse(403, 'Forbidden: not a contact owner')
    const request = z.object({ authorized_key: z.string() }).safeParse(body)
    if (!request.success) return refuse(400)
    const line = request.data.authorized_key.trim()
    const [type, publicKey = ''] = line.split(/\s+/)
    if (!type || readKeyType(publicKey) !== type)
      return refuse(422, 'Unprocessable Entity: invalid SSH key format')
    if (account().sshKeys.some((key) => key.split(/\s+/)[1] === publicKey)) {
      return { status: 409, text: 'Conflict: key already registered' }
    }
    account().sshKeys.push(line)
    save()
    return ok(sshKeyBody(line))
  }

  return {
    'GET user': () => ok(userBody(account(), team)),
    'GET user/ssh_keys': () => ok(listBody(account().sshKeys.map(sshKeyBody))),
    'POST user/ssh_keys': addSshKey,
    'GET balance': () => ok(balanceOf(state, now())),
    'GET virtual_machines/available': () => available('vm'),
    'GET virtual_machines': () => list('vm'),
    'POST virtual_machines': asOperator(createVm),
    'GET virtual_machines/{vm}': show('vm'),
    'GET virtual_machines/{vm}/state': withMachine('vm', (rental) => ok(vmStateBody(rental, now()))),
    'PATCH virtual_machines/{vm}': asOperator(describe('vm')),
    'DELETE virtual_machines/{vm}': asOperator(release('vm')),
    'GET bare_metal/available': () => available('bm'),
    'GET bare_metal': () => list('bm'),
    'POST bare_metal': asOperator(createServer),
    'GET bare_metal/{server}': show('bm'),
    'PATCH bare_metal/{server}': asOperator(describe('bm')),
    'DELETE bare_metal/{server}': asOperator(release('bm')),
    'POST bare_metal/{server}/reinstall': asOperator(
      withMachine('bm', async (rental) => {
        await rentals.reinstall(rental)
        return ok(machineBody(rental, now()))
      }),
    ),
  } satisfies Record<Endpoint, (call: Call) => Reply | Promise<Reply>>
}

type Kind = 'vm' | 'bm'

/** Fields that the contract doesn't know are dropped in silence, as by the real one. */
const sizes = {
  cpu_cores: z.int().nonnegative(),
  ram_capacity: z.int().nonnegative(),
  disk_capacity: z.int().nonnegative(),
  gpus: z.json().optional(),
  cpus: z.json().optional(),
}

const vmRequest = z.object({ ...sizes, user_data_url: z.string().optional() })

const serverRequest = z.object({
  specs: z.object({ ...sizes, memory_modules: z.json().optional(), disks: z.json().optional() }),
  description: z.string().optional(),
})

const ok = (body: unknown): Reply => ({ status: 200, body })

const isObject = (body: unknown) => typeof body === 'object' && body !== null && !Array.isArray(body)

const dropUndefined = (specs: Record<string, z.core.util.JSONType | undefined>) =>
  Object.fromEntries(
    Object.entries(specs).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  )

/** The type that a key's own bytes name: a length, then that many letters. */
const readKeyType = (publicKey: string): string | undefined => {
  const bytes = Buffer.from(publicKey, 'base64')
  if (bytes.length < 20 || bytes.toString('base64').replace(/=+$/, '') !== publicKey.replace(/=+$/, '')) {
    return undefined
  }
  return bytes.subarray(4, 4 + bytes.readUInt32BE(0)).toString('latin1')
}
