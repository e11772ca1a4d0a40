import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { PutCommand, type PutCommandInput } from '@aws-sdk/lib-dynamodb'
import { isConflict } from './conflict.ts'
import type { DynamoOptions } from './dynamo-store.ts'

type Condition = Pick<
  PutCommandInput,
  'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>

/**
 * Writes one item in the place of what was read. False when somebody else has written since, also when their write is
 * going on. `writeId` tells this write from another's, should its answer get lost and the SDK send it again.
 */
export const versionedPut = async (
  { client, table, random }: DynamoOptions,
  item: Record<string, unknown>,
  condition: Condition,
): Promise<boolean> => {
  const writeId = random.hex(8)
  try {
    await client.send(
      new PutCommand({
        TableName: table,
        Item: { ...item, writeId },
        ...condition,
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    )
    return true
  } catch (error) {
    if (isConflict(error)) return false
    if (error instanceof ConditionalCheckFailedException) return error.Item?.writeId?.S === writeId
    throw error
  }
}
