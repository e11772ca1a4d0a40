import { tableDefinition } from '../lib/store/table.ts'
import { tableName } from './names.ts'

/**
 * The table of lib/store/table.ts, as it is kept on AWS. It outlives the stack. A stack that is made again fails on its
 * name rather than start with an empty one, since machines of the old one's records would then be nobody's.
 */
export const table = () => ({
  Table: {
    Type: 'AWS::DynamoDB::Table',
    DeletionPolicy: 'Retain',
    UpdateReplacePolicy: 'Retain',
    Properties: {
      ...tableDefinition(tableName),
      DeletionProtectionEnabled: true,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      SSESpecification: { SSEEnabled: true },
      TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
    },
  },
})
