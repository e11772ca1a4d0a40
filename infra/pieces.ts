import { alarms } from './alarms.ts'
import { dashboard } from './dashboard.ts'
import { functions } from './lambda.ts'
import { ref } from './names.ts'
import { queues } from './queues.ts'
import { roles } from './roles.ts'
import { table } from './table.ts'

/** What serverless.yml includes. */
export const pieces = () => ({
  functions: functions(),
  resources: {
    ...table(),
    ...queues(),
    ...roles(),
    ...alarms(),
    ...dashboard(),
  },
  outputs: {
    TableName: { Value: ref('Table') },
    AlarmTopicArn: { Description: 'Subscribe to it to be told of alarms', Value: ref('AlarmTopic') },
  },
})
