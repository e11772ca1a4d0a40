import type { Step } from '../lib/model/step.ts'

/** What DynamoDB checks of a transaction of puts is PutItem. */
type TableAction = 'GetItem' | 'PutItem' | 'DeleteItem' | 'Query' | 'BatchGetItem'
type Index = 'due' | 'listed' | 'reserved'

type Trigger =
  | { by: 'authorizer' }
  | { by: 'http'; routes: string[]; open?: string[] }
  /** Batches of `batch` hints, `atOnce` of them at the same time. */
  | { by: 'queue'; step: Step; batch: number; atOnce: number }
  | { by: 'schedule'; rate: string }

export type LambdaFunction = {
  /** Name of its file in functions/. */
  name: string
  memoryMb: number
  seconds: number
  trigger: Trigger
  /** All that its code can ask of the table; `of` says in which index, or `table`, a query looks. */
  table: readonly TableAction[]
  queries: readonly (Index | 'table')[]
  sends: readonly (Step | 'dead-letters')[]
  /** Whether it reads the settings and the SSH key. */
  settings: boolean
}

/** A visit of an instance; its lease is 120 s (lib/lambda-context.ts). */
const stepSeconds = 100
/** API Gateway waits no longer than 30 s for an answer. */
const apiSeconds = 29

const steps = ['provision', 'bootstrap', 'check', 'terminate'] as const
const stepSends = [...steps, 'dead-letters'] as const

/**
 * Every function: what starts it, how much it gets, and all that it may touch. How many run at once is bounded without
 * taking from the account's pool, which in a new account is as small as 10: those of queues by the event source, those
 * of the API by its throttling, those of schedules by time-outs shorter than their interval.
 */
export const lambdaFunctions: LambdaFunction[] = [
  {
    name: 'authorize',
    memoryMb: 512,
    seconds: 10,
    trigger: { by: 'authorizer' },
    table: ['GetItem'],
    queries: [],
    sends: [],
    settings: false,
  },
  {
    name: 'offers',
    memoryMb: 1024,
    seconds: apiSeconds,
    trigger: { by: 'http', routes: ['GET /offers'], open: ['GET /health', 'GET /openapi.json'] },
    table: ['GetItem', 'Query', 'BatchGetItem'],
    queries: ['listed'],
    sends: [],
    settings: true,
  },
  {
    name: 'instances',
    memoryMb: 512,
    seconds: apiSeconds,
    trigger: {
      by: 'http',
      routes: [
        'POST /instances',
        'GET /instances',
        'GET /instances/{id}',
        'DELETE /instances/{id}',
        'POST /instances/{id}/claim',
        'POST /instances/{id}/release',
        'GET /reservations',
        'GET /costs',
      ],
    },
    table: ['GetItem', 'PutItem', 'Query', 'BatchGetItem'],
    queries: ['table', 'listed', 'reserved'],
    sends: steps,
    settings: true,
  },
  {
    name: 'fleets',
    memoryMb: 1024,
    seconds: apiSeconds,
    trigger: {
      by: 'http',
      routes: ['PUT /fleets/{name}', 'GET /fleets', 'GET /fleets/{name}', 'DELETE /fleets/{name}'],
    },
    table: ['GetItem', 'PutItem', 'DeleteItem', 'Query', 'BatchGetItem'],
    queries: ['table', 'listed'],
    sends: steps,
    settings: true,
  },
  {
    name: 'provision',
    memoryMb: 1024,
    seconds: stepSeconds,
    trigger: { by: 'queue', step: 'provision', batch: 1, atOnce: 10 },
    table: ['GetItem', 'PutItem', 'DeleteItem'],
    queries: [],
    sends: stepSends,
    settings: true,
  },
  {
    name: 'bootstrap',
    memoryMb: 1024,
    seconds: stepSeconds,
    trigger: { by: 'queue', step: 'bootstrap', batch: 5, atOnce: 10 },
    table: ['GetItem', 'PutItem'],
    queries: [],
    sends: stepSends,
    settings: true,
  },
  {
    name: 'check',
    memoryMb: 1024,
    seconds: stepSeconds,
    trigger: { by: 'queue', step: 'check', batch: 5, atOnce: 10 },
    table: ['GetItem', 'PutItem'],
    queries: [],
    sends: stepSends,
    settings: true,
  },
  {
    name: 'terminate',
    memoryMb: 1024,
    seconds: stepSeconds,
    trigger: { by: 'queue', step: 'terminate', batch: 5, atOnce: 10 },
    table: ['GetItem', 'PutItem', 'DeleteItem'],
    queries: [],
    sends: stepSends,
    settings: true,
  },
  {
    name: 'idle-check',
    memoryMb: 512,
    seconds: 50,
    trigger: { by: 'schedule', rate: 'rate(1 minute)' },
    table: ['PutItem', 'Query', 'BatchGetItem'],
    queries: ['due'],
    sends: steps,
    settings: false,
  },
  {
    name: 'keep-fleets',
    memoryMb: 512,
    seconds: 50,
    trigger: { by: 'schedule', rate: 'rate(1 minute)' },
    table: ['GetItem', 'PutItem', 'DeleteItem', 'Query', 'BatchGetItem'],
    queries: ['table', 'listed'],
    sends: steps,
    settings: true,
  },
  {
    name: 'reconcile',
    memoryMb: 1024,
    seconds: stepSeconds,
    trigger: { by: 'schedule', rate: 'rate(5 minutes)' },
    table: ['GetItem', 'PutItem', 'Query', 'BatchGetItem'],
    queries: ['table', 'listed'],
    sends: steps,
    settings: true,
  },
  {
    name: 'refresh-catalog',
    memoryMb: 1024,
    seconds: stepSeconds,
    trigger: { by: 'schedule', rate: 'rate(1 day)' },
    table: ['GetItem', 'PutItem'],
    queries: [],
    sends: [],
    settings: true,
  },
]
