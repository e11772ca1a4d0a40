import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb'

/**
 * The one table. `due` holds what the sweep looks for, in 16 partitions; `listed` holds every instance under ACTIVE,
 * SPARE or ENDED; `reserved` those with a reservation. All three hold keys alone, and only what stands in them costs.
 */
export const tableDefinition = (TableName: string): CreateTableCommandInput => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'S' },
    { AttributeName: 'due', AttributeType: 'S' },
    { AttributeName: 'sweepAt', AttributeType: 'N' },
    { AttributeName: 'listed', AttributeType: 'S' },
    { AttributeName: 'createdAt', AttributeType: 'N' },
    { AttributeName: 'reserved', AttributeType: 'S' },
    { AttributeName: 'reservedUntil', AttributeType: 'N' },
  ],
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    index('due', 'sweepAt'),
    index('listed', 'createdAt'),
    index('reserved', 'reservedUntil'),
  ],
})

export const dueShards = 16

const index = (hash: string, range: string) => ({
  IndexName: hash,
  KeySchema: [
    { AttributeName: hash, KeyType: 'HASH' as const },
    { AttributeName: range, KeyType: 'RANGE' as const },
  ],
  Projection: { ProjectionType: 'KEYS_ONLY' as const },
})
