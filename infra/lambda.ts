import { type LambdaFunction, lambdaFunctions } from './functions.ts'
import { arnOf, ref } from './names.ts'
import { queueId } from './queues.ts'
import { parameters, roleId } from './roles.ts'

/** The `functions` of serverless.yml; their packages are made by infra/package.ts. */
export const functions = () => Object.fromEntries(lambdaFunctions.map((each) => [each.name, lambda(each)]))

const lambda = (each: LambdaFunction) => ({
  handler: `${each.name}.handler`,
  role: roleId(each.name),
  memorySize: each.memoryMb,
  timeout: each.seconds,
  package: { artifact: `.berth-package/${each.name}.zip` },
  environment: environmentOf(each),
  ...eventsOf(each),
})

const environmentOf = ({ sends, settings }: LambdaFunction) => ({
  BERTH_TABLE: ref('Table'),
  ...(settings && {
    BERTH_SETTINGS_PARAMETER: parameters.settings,
    BERTH_SSH_KEY_PARAMETER: parameters.sshKey,
  }),
  ...((settings || sends.length > 0) && queueAddresses()),
})

const queueAddresses = () =>
  Object.fromEntries(
    ['provision', 'bootstrap', 'check', 'terminate', 'dead-letters'].map((name) => [
      `BERTH_QUEUE_${name.toUpperCase().replace('-', '_')}`,
      ref(queueId(name)),
    ]),
  )

const eventsOf = ({ trigger }: LambdaFunction) => {
  switch (trigger.by) {
    case 'authorizer':
      return {}
    case 'http':
      return {
        events: [
          ...trigger.routes.map((route) => ({
            httpApi: { ...routeOf(route), authorizer: { name: 'keys' } },
          })),
          ...(trigger.open ?? []).map((route) => ({ httpApi: routeOf(route) })),
        ],
      }
    case 'queue':
      return {
        events: [
          {
            sqs: {
              arn: arnOf(queueId(trigger.step)),
              batchSize: trigger.batch,
              maximumConcurrency: trigger.atOnce,
              functionResponseType: 'ReportBatchItemFailures',
            },
          },
        ],
      }
    case 'schedule':
      // The next turn does what a failed one has left, or one that was throttled: those would be kept for six hours and
      // come all at once. 60 s is the least that AWS takes.
      return {
        maximumRetryAttempts: 0,
        maximumEventAge: 60,
        events: [{ schedule: { rate: [trigger.rate] } }],
      }
  }
}

const routeOf = (route: string) => {
  const [method = '', path = ''] = route.split(' ')
  return { method, path }
}
