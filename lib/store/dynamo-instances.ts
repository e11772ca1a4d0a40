import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { BerthError } from '../model/errors.ts'
import type { Instance, InstanceEvent } from '../model/instance.ts'
import { isConflict } from './conflict.ts'
import type { DynamoOptions } from './dynamo-store.ts'
import { changedFleet, fleetKey, fromFleetItem, isSameFleet, toFleetItem } from './fleet-item.ts'
import {
  eventLine,
  fromItem,
  instanceKey,
  listedUnder,
  readEvents,
  splitEvents,
  toItem,
} from './instance-item.ts'
import { isSpend, toCostItem, toSpendItem } from './spend-item.ts'
import { type Also, type FleetChange, InstanceExists, type Instances, type Once } from './store.ts'
import { dueShards } from './table.ts'

type Put = NonNullable<NonNullable<TransactWriteCommandInput['TransactItems']>[number]['Put']>
type Page = { instances: Instance[]; cursor?: string }

const onceItem = z.object({ instanceId: z.string(), fingerprint: z.string() })
/** How many keys DynamoDB takes in one BatchGetItem. */
const batchSize = 100

export const createInstances = ({ client, table, random }: DynamoOptions): Instances => {
  /** `writeId` tells this write from every other, should its answer get lost and the SDK send it again. */
  const put = (item: Record<string, unknown>, condition: Condition): Put => ({
    TableName: table,
    Item: { ...item, writeId: random.hex(8) },
    ...condition,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  })

  /**
   * One plain write where it is one, since a transaction costs twice the units. False when a condition failed.
   * `stale`: where another write is at the same items, what was read for this one is old by then.
   */
  const write = async (puts: Put[], { stale = false, tries = 4 } = {}): Promise<boolean> => {
    const [only, ...rest] = puts
    try {
      // A transaction that is sent again carries its token, so that DynamoDB itself knows it.
      if (only && rest.length === 0) await client.send(new PutCommand(only))
      else await client.send(new TransactWriteCommand({ TransactItems: puts.map((Put) => ({ Put })) }))
      return true
    } catch (error) {
      if (isRefused(error)) return isOwnWrite(error, only)
      // Another write was at the same items: nothing was judged, and the SDK does not ask again.
      if (isConflict(error) && stale) return false
      if (isConflict(error) && tries > 1) return write(puts, { tries: tries - 1 })
      throw error
    }
  }

  const get = async (id: string): Promise<Instance | undefined> => {
    const { Item } = await client.send(
      new GetCommand({ TableName: table, Key: instanceKey(id), ConsistentRead: true }),
    )
    return Item === undefined ? undefined : fromItem(Item)
  }

  const getMany = async (keys: Record<string, unknown>[]): Promise<Instance[]> => {
    const found: Instance[] = []
    for (let at = 0; at < keys.length; at += batchSize) {
      let ask: Record<string, unknown>[] = keys.slice(at, at + batchSize)
      while (ask.length > 0) {
        const answer = await client.send(new BatchGetCommand({ RequestItems: { [table]: { Keys: ask } } }))
        found.push(...(answer.Responses?.[table] ?? []).map(fromItem))
        ask = answer.UnprocessedKeys?.[table]?.Keys ?? []
      }
    }
    return found
  }

  const query = async (index: string, input: Partial<QueryCommandInput>) => {
    try {
      return await client.send(new QueryCommand({ TableName: table, IndexName: index, ...input }))
    } catch (error) {
      // A start that belongs to no key of the index: only a cursor that was tampered with can name one.
      const isInvalid = error instanceof Error && error.name === 'ValidationException'
      if (input.ExclusiveStartKey && isInvalid) throw badCursor()
      throw error
    }
  }

  const pageOf = async (index: string, input: Partial<QueryCommandInput>, cursor?: string): Promise<Page> => {
    const { Items = [], LastEvaluatedKey } = await query(index, {
      ...input,
      ExclusiveStartKey: fromCursor(cursor),
    })
    const byId = new Map(
      (await getMany(Items.map(keyOfItem))).map((found) => [instanceKey(found.id).pk, found]),
    )
    const instances = Items.flatMap(({ pk }) => byId.get(pk) ?? [])
    return { instances, ...(LastEvaluatedKey && { cursor: toCursor(LastEvaluatedKey) }) }
  }

  const used: Instances['used'] = async ({ scope, key }) => {
    const Key = onceKey({ scope, key })
    const { Item } = await client.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }))
    if (Item === undefined) return undefined
    const { instanceId, fingerprint } = onceItem.parse(Item)
    const instance = await get(instanceId)
    return instance && { instance, fingerprint }
  }

  /** What is written with an instance. */
  const putsWith = (id: string, { once, fleet, spend, costs = [] }: Also): Put[] => [
    ...(once ? [put(toOnceItem(once, id), isNew)] : []),
    ...(fleet ? [put(toFleetItem(changedFleet(fleet)), isSameFleet(fleet.previous))] : []),
    ...(spend ? [put(toSpendItem(spend), isSpend(spend.before))] : []),
    ...costs.map((line) => put(toCostItem(line), {})),
  ]

  const isStale = async ({ previous }: FleetChange): Promise<boolean> => {
    const Key = fleetKey(previous.name)
    const { Item } = await client.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }))
    const stands = Item && fromFleetItem(Item)
    return stands?.version !== previous.version || stands.createdAt !== previous.createdAt
  }

  return {
    get,
    used,

    create: async (instance, also = {}) => {
      const { once, fleet, spend } = also
      const puts = [put(toItem(instance), isNew), ...putsWith(instance.id, also)]
      if (await write(puts, { stale: spend !== undefined })) return {}
      const earlier = once && (await used(once))
      if (earlier) return { used: earlier }
      if (fleet && (await isStale(fleet))) return { isFleetStale: true }
      if (spend && !(await get(instance.id))) return { spendChanged: true }
      throw new InstanceExists(instance.id)
    },

    update: async (previous, changed, also = {}) => {
      const next = { ...changed, version: previous.version + 1 }
      const { kept, moved } = splitEvents(next)
      const puts = [put(toItem(kept), isVersion(previous.version))]
      if (moved.length > 0) puts.push(put(toEventsItem(next, moved), isNew))
      puts.push(...putsWith(next.id, also))
      return (await write(puts, { stale: also.spend !== undefined })) ? kept : undefined
    },

    olderEvents: async (instance) => {
      const { Items = [] } = await client.send(
        new QueryCommand({
          TableName: table,
          // What moved off the record after it was read stands on the copy that was read.
          KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
          ExpressionAttributeValues: {
            ':pk': instanceKey(instance.id).pk,
            ':first': eventsKey(0),
            ':last': eventsKey(instance.version),
          },
          ConsistentRead: true,
        }),
      )
      return Items.flatMap(({ events }) => readEvents(events))
    },

    list: async ({ status, limit, cursor }) => {
      const lists =
        status === undefined ? (['ACTIVE', 'SPARE'] as const) : ([listedUnder({ status })] as const)
      let at = cursor === undefined ? { list: lists[0], rest: '' } : readCursor(cursor)
      const found: Instance[] = []
      for (;;) {
        const { list, rest } = at
        const input = { ...equals('listed', list), ScanIndexForward: false, Limit: limit - found.length }
        const page = await pageOf('listed', input, rest)
        // The index is a moment behind the records, which say what is true.
        found.push(...page.instances.filter((each) => isIn(each, list, status)))
        const next = page.cursor === undefined ? nextList(lists, list) : list
        if (next === undefined) return { instances: found }
        at = { list: next, rest: page.cursor ?? '' }
        if (found.length >= limit) return { instances: found, cursor: `${at.list}.${at.rest}` }
      }
    },

    reserved: ({ since, limit, cursor }) =>
      pageOf(
        'reserved',
        {
          KeyConditionExpression: 'reserved = :reserved AND reservedUntil >= :since',
          ExpressionAttributeValues: { ':reserved': 'RESERVATION', ':since': since },
          Limit: limit,
        },
        cursor,
      ),

    due: async (now, limit) => {
      const shards = Array.from({ length: dueShards }, (_, shard) =>
        query('due', {
          KeyConditionExpression: 'due = :due AND sweepAt <= :now',
          ExpressionAttributeValues: { ':due': `DUE#${shard}`, ':now': now },
          Limit: limit,
        }),
      )
      const keys = (await Promise.all(shards)).flatMap(({ Items = [] }) => Items.map(keyOfItem))
      return getMany(keys)
    },
  }
}

type Condition = Pick<Put, 'ConditionExpression' | 'ExpressionAttributeValues' | 'ExpressionAttributeNames'>

const isNew: Condition = { ConditionExpression: 'attribute_not_exists(pk)' }

/** Nobody has written since we read: the one condition of every change of an instance. */
const isVersion = (version: number): Condition => ({
  ConditionExpression: '#version = :version',
  ExpressionAttributeNames: { '#version': 'version' },
  ExpressionAttributeValues: { ':version': version },
})

const equals = (name: string, value: string) => ({
  KeyConditionExpression: `${name} = :value`,
  ExpressionAttributeValues: { ':value': value },
})

const isRefused = (error: unknown): boolean =>
  error instanceof ConditionalCheckFailedException ||
  (error instanceof TransactionCanceledException &&
    (error.CancellationReasons ?? []).some(({ Code }) => Code === 'ConditionalCheckFailed'))

/** The write was refused because it had been done: its first answer got lost, and this is the second. */
const isOwnWrite = (error: unknown, put: Put | undefined): boolean =>
  error instanceof ConditionalCheckFailedException && error.Item?.writeId?.S === put?.Item?.writeId

/** Sorts by the version at which the events moved. */
const eventsKey = (version: number) => `EVENTS#${String(version).padStart(9, '0')}`

const onceKey = ({ scope, key }: Pick<Once, 'scope' | 'key'>) => ({
  pk: `IDEMPOTENCY#${scope}#${key}`,
  sk: 'IDEMPOTENCY',
})

const toOnceItem = (once: Once, instanceId: string) => ({
  ...onceKey(once),
  instanceId,
  fingerprint: once.fingerprint,
})

const toEventsItem = (instance: Instance, events: InstanceEvent[]) => ({
  pk: instanceKey(instance.id).pk,
  sk: eventsKey(instance.version),
  events: events.map(eventLine),
})

const keyOfItem = ({ pk, sk }: Record<string, unknown>) => ({ pk, sk })

const toCursor = (key: Record<string, unknown>): string =>
  Buffer.from(JSON.stringify(key)).toString('base64url')

const cursorKey = z.record(z.string(), z.union([z.string(), z.number()]))

const fromCursor = (cursor: string | undefined): Record<string, string | number> | undefined => {
  if (cursor === undefined || cursor === '') return undefined
  try {
    return cursorKey.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()))
  } catch {
    throw badCursor()
  }
}

type List = ReturnType<typeof listedUnder>

/** A cursor of `list`: the list in which the page ended, then the place in it. */
const readCursor = (cursor: string): { list: List; rest: string } => {
  const [list, rest = ''] = cursor.split('.')
  const known = z.enum(['ACTIVE', 'SPARE', 'ENDED']).safeParse(list)
  if (!known.success) throw badCursor()
  return { list: known.data, rest }
}

const isIn = (instance: Instance, list: List, status: Instance['status'] | undefined) =>
  listedUnder(instance) === list && (status === undefined || instance.status === status)

const nextList = (lists: readonly List[], list: List): List | undefined => lists[lists.indexOf(list) + 1]

const badCursor = () =>
  new BerthError('invalid_request', 'Nothing was read: the cursor is not one of ours.', [
    { path: 'cursor', message: 'pass the cursor of the page before, unchanged' },
  ])
