import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import { keptCatalogue } from '../model/catalogue.ts'
import type { DynamoOptions } from './dynamo-store.ts'
import type { Catalogues } from './store.ts'

export const createCatalogues = ({ client, table }: Pick<DynamoOptions, 'client' | 'table'>): Catalogues => ({
  get: async (backend) => {
    const { Item } = await client.send(new GetCommand({ TableName: table, Key: keyOf(backend) }))
    return Item === undefined ? undefined : keptCatalogue.parse(Item)
  },
  put: async (backend, catalogue) => {
    await client.send(new PutCommand({ TableName: table, Item: { ...keyOf(backend), ...catalogue } }))
  },
})

const keyOf = (backend: string) => ({ pk: `CATALOG#${backend}`, sk: 'CATALOG' })
