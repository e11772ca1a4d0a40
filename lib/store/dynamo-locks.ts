import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import type { DynamoOptions } from './dynamo-store.ts'
import type { Locks } from './store.ts'

export const createLocks = ({ client, table }: Pick<DynamoOptions, 'client' | 'table'>): Locks => ({
  takeLock: (name, lockOwner, { now, until }) =>
    unlessRefused(
      client.send(
        new PutCommand({
          TableName: table,
          Item: { ...keyOf(name), lockOwner, lockUntil: until, expires: Math.ceil(until / 1000) + 86_400 },
          ConditionExpression: 'attribute_not_exists(pk) OR lockOwner = :owner OR lockUntil < :now',
          ExpressionAttributeValues: { ':owner': lockOwner, ':now': now },
        }),
      ),
    ),
  freeLock: async (name, lockOwner) => {
    await unlessRefused(
      client.send(
        new DeleteCommand({
          TableName: table,
          Key: keyOf(name),
          ConditionExpression: 'lockOwner = :owner',
          ExpressionAttributeValues: { ':owner': lockOwner },
        }),
      ),
    )
  },
})

const keyOf = (name: string) => ({ pk: `LOCK#${name}`, sk: 'LOCK' })

const unlessRefused = async (sent: Promise<unknown>): Promise<boolean> => {
  try {
    await sent
    return true
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false
    throw error
  }
}
