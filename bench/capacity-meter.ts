import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'

const consumed = z.object({ CapacityUnits: z.number().default(0) })
const answer = z.object({
  output: z.object({ ConsumedCapacity: z.union([consumed, z.array(consumed)]).optional() }),
})

export type CapacityMeter = { read: number; write: number; reset(): void }

/** Counts the units that DynamoDB itself says each command consumed, indexes included. */
export const meterCapacity = (client: DynamoDBDocumentClient): CapacityMeter => {
  const meter: CapacityMeter = {
    read: 0,
    write: 0,
    reset: () => {
      meter.read = 0
      meter.write = 0
    },
  }
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const result = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } })
        const { ConsumedCapacity = [] } = answer.parse(result).output
        const units = [ConsumedCapacity].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0)
        if (/^(Get|Query|BatchGet|Scan)/.test(commandName)) meter.read += units
        else meter.write += units
        return result
      },
    { step: 'initialize', name: 'capacityMeter' },
  )
  return meter
}
