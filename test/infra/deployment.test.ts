import { statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { functionFiles } from '../../infra/bundle.ts'
import { packageFolder } from '../../infra/write-pieces.ts'
import type { Route } from '../../lib/http/http-handler.ts'
import { claimRoutes } from '../../lib/http/routes-claims.ts'
import { costRoutes } from '../../lib/http/routes-costs.ts'
import { fleetRoutes } from '../../lib/http/routes-fleets.ts'
import { healthRoutes } from '../../lib/http/routes-health.ts'
import { instanceRoutes } from '../../lib/http/routes-instances.ts'
import { offerRoutes } from '../../lib/http/routes-offers.ts'
import { openApiRoutes } from '../../lib/http/routes-openapi.ts'
import { alarms } from '../../lib/model/alarm.ts'
import { mostReceives } from '../../lib/queues/queues.ts'
import { tableDefinition } from '../../lib/store/table.ts'
import { callsInCode } from './calls-in-code.ts'
import { packageAll, readTemplate, type Template } from './packaged.ts'
import { startPackagedStage } from './packaged-stage.ts'
import { permissionsOf, rolesOf } from './permissions.ts'

const names = functionFiles()
  .map((file) => file.replace(/^.*\/|\.ts$/g, ''))
  .sort()
const steps = ['provision', 'bootstrap', 'check', 'terminate']
let template: Template

beforeAll(() => {
  template = packageAll()
}, 120_000)

const ofType = (type: string) => Object.values(template.Resources).filter(({ Type }) => Type === type)
const propertiesOf = (type: string) => ofType(type).map(({ Properties }) => Properties)
const idOf = (type: string, key: string, value: string): string =>
  Object.entries(template.Resources).find(
    ([, { Type, Properties }]) => Type === type && Properties[key] === value,
  )?.[0] ?? 'none'
const lambdaId = (name: string) => idOf('AWS::Lambda::Function', 'FunctionName', `berth-prod-${name}`)
const queueId = (name: string) => idOf('AWS::SQS::Queue', 'QueueName', `berth-prod-${name}`)
const lambda = (name: string) => template.Resources[lambdaId(name)]?.Properties ?? {}
const queue = (name: string) => template.Resources[queueId(name)]?.Properties ?? {}

describe('functions', () => {
  test('are the files of functions/, each with a package of its own', () => {
    expect(Object.keys(rolesOf(template)).sort()).toEqual(names)
    for (const name of names) expect(statSync(join(packageFolder, `${name}.zip`)).size).toBeGreaterThan(0)
  })

  test.each(names)('%s runs on Node 24 and arm64, and keeps its log for a month', (name) => {
    expect(lambda(name)).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: `${name}.handler`,
      MemorySize: expect.any(Number),
    })
    expect(propertiesOf('AWS::Logs::LogGroup')).toContainEqual({
      LogGroupName: `/aws/lambda/berth-prod-${name}`,
      RetentionInDays: 30,
    })
  })

  test.each(names)('%s ends before its lease of 120 s does', (name) => {
    expect(lambda(name).Timeout).toBeLessThanOrEqual(100)
  })

  test.each(steps)('%s has 100 s', (name) => {
    expect(lambda(name).Timeout).toBe(100)
  })

  test.each(names.filter((name) => !['authorize', 'idle-check'].includes(name)))(
    '%s is told all that its context reads',
    (name) => {
      expect(lambda(name).Environment).toEqual({
        Variables: {
          BERTH_TABLE: { Ref: 'Table' },
          BERTH_SETTINGS_PARAMETER: '/berth/prod/settings',
          BERTH_SSH_KEY_PARAMETER: '/berth/prod/ssh-key',
          ...queueVariables(),
        },
      })
    },
  )

  test('those that visit no cloud are told of no settings and no key', () => {
    expect(lambda('authorize').Environment).toEqual({ Variables: { BERTH_TABLE: { Ref: 'Table' } } })
    expect(lambda('idle-check').Environment).toEqual({
      Variables: { BERTH_TABLE: { Ref: 'Table' }, ...queueVariables() },
    })
  })
})

const queueVariables = () => ({
  BERTH_QUEUE_PROVISION: { Ref: queueId('provision') },
  BERTH_QUEUE_BOOTSTRAP: { Ref: queueId('bootstrap') },
  BERTH_QUEUE_CHECK: { Ref: queueId('check') },
  BERTH_QUEUE_TERMINATE: { Ref: queueId('terminate') },
  BERTH_QUEUE_DEAD_LETTERS: { Ref: queueId('dead-letters') },
})

describe('queues', () => {
  test('are one for each step and one for the dead letters', () => {
    const all = propertiesOf('AWS::SQS::Queue').map(({ QueueName }) => QueueName)
    expect(all.sort()).toEqual([...steps, 'dead-letters'].map((name) => `berth-prod-${name}`).sort())
  })

  test.each([...steps, 'dead-letters'])('%s is encrypted', (name) => {
    expect(queue(name).SqsManagedSseEnabled).toBe(true)
  })

  test.each(steps)('%s gives up after five deliveries, into the dead letters', (name) => {
    expect(queue(name).RedrivePolicy).toEqual({
      deadLetterTargetArn: { 'Fn::GetAtt': [queueId('dead-letters'), 'Arn'] },
      maxReceiveCount: mostReceives,
    })
  })

  test.each(steps)('%s hides what is being worked on for six times the time-out of its function', (name) => {
    expect(Number(queue(name).VisibilityTimeout)).toBeGreaterThanOrEqual(6 * Number(lambda(name).Timeout))
  })

  test.each(steps)(
    '%s hands its batches to its function, takes parts of them back, and is bounded',
    (name) => {
      const sources = propertiesOf('AWS::Lambda::EventSourceMapping').filter(
        ({ FunctionName }) => JSON.stringify(FunctionName) === JSON.stringify(arnOf(lambdaId(name))),
      )
      expect(sources).toEqual([
        expect.objectContaining({
          EventSourceArn: arnOf(queueId(name)),
          FunctionResponseTypes: ['ReportBatchItemFailures'],
          ScalingConfig: { MaximumConcurrency: 10 },
        }),
      ])
    },
  )

  test('dead letters stay as long as SQS keeps anything, and longer than they can have waited before', () => {
    expect(queue('dead-letters').MessageRetentionPeriod).toBe(1_209_600)
    for (const step of steps) expect(queue(step).MessageRetentionPeriod).toBe(345_600)
  })
})

const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] })

test('the table is the one of the store, kept, encrypted, and restorable to any second', () => {
  const [table, ...more] = ofType('AWS::DynamoDB::Table')
  expect(more).toEqual([])
  expect(table?.DeletionPolicy).toBe('Retain')
  expect(table?.Properties).toEqual({
    ...tableDefinition('berth-prod'),
    BillingMode: 'PAY_PER_REQUEST',
    DeletionProtectionEnabled: true,
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    SSESpecification: { SSEEnabled: true },
    TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
  })
})

test.each([
  ['idle-check', 'rate(1 minute)', 60],
  ['keep-fleets', 'rate(1 minute)', 60],
  ['reconcile', 'rate(5 minutes)', 300],
  ['refresh-catalog', 'rate(1 day)', 86_400],
])(
  '%s comes at %s, never twice at once, and is not called again when it failed or was throttled',
  (name, rate, seconds) => {
    const target = expect.objectContaining({ Arn: arnOf(lambdaId(name)) })
    expect(propertiesOf('AWS::Events::Rule')).toContainEqual(
      expect.objectContaining({ State: 'ENABLED', ScheduleExpression: rate, Targets: [target] }),
    )
    expect(propertiesOf('AWS::Events::Rule')).toHaveLength(4)
    expect(propertiesOf('AWS::Lambda::EventInvokeConfig')).toContainEqual(
      expect.objectContaining({
        FunctionName: { Ref: lambdaId(name) },
        MaximumRetryAttempts: 0,
        MaximumEventAgeInSeconds: 60,
      }),
    )
    expect(Number(lambda(name).Timeout)).toBeLessThan(seconds)
  },
)

test.each(names)('%s is traced', (name) => {
  expect(lambda(name).TracingConfig).toEqual({ Mode: 'Active' })
})

describe('the API', () => {
  const keysOf = (routes: Route[]) => routes.map(({ method, path }) => `${method} ${path}`)

  const openRoutes = [...healthRoutes, ...openApiRoutes(async () => '')]

  test('has every route of the code and no other; all but the health and the document ask for a key', () => {
    const routes = propertiesOf('AWS::ApiGatewayV2::Route')
    const all = [
      ...instanceRoutes,
      ...claimRoutes,
      ...costRoutes,
      ...fleetRoutes,
      ...offerRoutes,
      ...openRoutes,
    ]
    expect(routes.map(({ RouteKey }) => RouteKey).sort()).toEqual(keysOf(all).sort())
    const open = routes.filter(({ AuthorizationType }) => AuthorizationType !== 'CUSTOM')
    expect(open.map(({ RouteKey }) => RouteKey).sort()).toEqual(keysOf(openRoutes).sort())
  })

  test('writes a line for each request, which leads to the lines of its function', () => {
    const [{ AccessLogSettings } = {}] = propertiesOf('AWS::ApiGatewayV2::Stage')
    const { Format } = z.object({ Format: z.string() }).parse(AccessLogSettings)
    expect(JSON.parse(Format)).toMatchObject({
      key: '$context.authorizer.name',
      status: '$context.status',
      integrationRequestId: '$context.integration.requestId',
    })
    expect(Format).not.toContain('authorization')
  })

  test('is throttled, and remembers an answer about a key for a minute at most', () => {
    expect(propertiesOf('AWS::ApiGatewayV2::Stage')).toEqual([
      expect.objectContaining({
        DefaultRouteSettings: { ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 },
      }),
    ])
    expect(propertiesOf('AWS::ApiGatewayV2::Authorizer')).toEqual([
      expect.objectContaining({
        AuthorizerResultTtlInSeconds: 60,
        EnableSimpleResponses: true,
        IdentitySource: ['$request.header.Authorization'],
      }),
    ])
  })
})

describe('alarms', () => {
  const toTopic = { AlarmActions: [{ Ref: 'AlarmTopic' }], OKActions: [{ Ref: 'AlarmTopic' }] }
  const atOnce = {
    Threshold: 0,
    ComparisonOperator: 'GreaterThanThreshold',
    TreatMissingData: 'notBreaching',
    ...toTopic,
  }
  const of = (metric: string) =>
    propertiesOf('AWS::CloudWatch::Alarm').filter(({ MetricName }) => MetricName === metric)

  test.each(alarms)('%s is told, with its page of the runbook', (name) => {
    expect(of(name)).toEqual([
      expect.objectContaining({
        ...atOnce,
        Namespace: 'Berth',
        Dimensions: [{ Name: 'service', Value: 'berth' }],
        Statistic: 'Sum',
        Period: 900,
        AlarmDescription: expect.stringContaining(`docs/runbook.md#${name.toLowerCase()}`),
      }),
    ])
  })

  test('a dead letter is told', () => {
    expect(of('ApproximateNumberOfMessagesVisible')).toEqual([
      expect.objectContaining({
        ...atOnce,
        Dimensions: [{ Name: 'QueueName', Value: 'berth-prod-dead-letters' }],
      }),
    ])
  })

  test('an answer of 5xx is told, which a function that answers for itself does not count as an error', () => {
    expect(of('5xx')).toEqual([
      expect.objectContaining({
        ...atOnce,
        Namespace: 'AWS/ApiGateway',
        Dimensions: [{ Name: 'ApiId', Value: { Ref: 'HttpApi' } }],
      }),
    ])
  })

  test.each(['Errors', 'Throttles'])('%s of every function are told', (metric) => {
    expect(of(metric).map(({ Dimensions }) => Dimensions)).toEqual(
      expect.arrayContaining(names.map((name) => [{ Name: 'FunctionName', Value: `berth-prod-${name}` }])),
    )
    for (const alarm of of(metric)) expect(alarm).toMatchObject(atOnce)
  })
})

describe('permissions', () => {
  const settings = ['settings', 'ssh-key'].flatMap((name) =>
    ['ssm:GetParameter', 'ssm:GetParameters'].map((action) => `${action} parameter/berth/prod/${name}`),
  )
  const log = (name: string) =>
    ['logs:CreateLogStream', 'logs:PutLogEvents'].map(
      (action) => `${action} log-group:/aws/lambda/berth-prod-${name}:*`,
    )
  const ownQueue = (name: string) =>
    ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'].map((action) => `${action} ${name}`)

  let calls: Record<string, string[]>
  beforeAll(async () => {
    calls = await callsInCode()
  })
  /** Actions that know no resource but all. */
  const traces = ['xray:PutTelemetryRecords *', 'xray:PutTraceSegments *']

  const neededBy = (name: string): string[] =>
    [
      ...(calls[name] ?? []),
      ...log(name),
      ...traces,
      ...(steps.includes(name) ? ownQueue(name) : []),
      ...(['authorize', 'idle-check'].includes(name) ? [] : settings),
    ].sort()

  test.each(names)(
    'of %s are for what its code asks, its log, its queue and its settings, and no more',
    (name) => {
      expect(permissionsOf(template, name)).toEqual(neededBy(name))
    },
  )

  test.each([
    ['one too few', '"dynamodb:GetItem",', ''],
    ['one too many', '"dynamodb:GetItem"', '"dynamodb:GetItem","dynamodb:Scan"'],
    ['another queue', '["CheckQueue","Arn"]', '["DeadLettersQueue","Arn"]'],
  ])('with %s would not pass', (_, right, wrong) => {
    const id = rolesOf(template).check ?? ''
    const text = JSON.stringify(template.Resources[id])
    const changed = readTemplate(
      JSON.stringify({ Resources: { ...template.Resources, [id]: JSON.parse(text.replace(right, wrong)) } }),
    )
    expect(permissionsOf(changed, 'check')).not.toEqual(neededBy('check'))
  })

  test('are of one role for each function, and name no more than they must', () => {
    const roles = Object.values(rolesOf(template))
    expect(new Set(roles).size).toBe(names.length)
    expect(ofType('AWS::IAM::Role')).toHaveLength(names.length)
    for (const name of names) {
      for (const permission of permissionsOf(template, name).filter((each) => !traces.includes(each))) {
        // The streams of its own log have names that nobody knows before.
        expect(permission.replace(`berth-prod-${name}:*`, '')).not.toContain('*')
      }
    }
  })
})

describe('the packages', () => {
  let stage: Awaited<ReturnType<typeof startPackagedStage>>
  beforeAll(async () => {
    stage = await startPackagedStage(names)
  })
  afterAll(() => stage.stop())

  test.each([
    ['oci', { gpu: 'A10:1' }],
    ['hotaisle', { gpu: 'MI300X:1' }],
  ])(
    'rent a machine of %s, give it to its renter, and give it back',
    async (backend, wanted) => {
      const asked = { ...wanted, backends: [backend], idleDuration: '0', reuse: false }
      const created = await stage.request('instances', 'POST', '/instances', asked)
      expect(created.status).toBe(202)
      const { id } = created.body

      await stage.until(id, ({ status }) => status === 'busy')
      const busy = await stage.request('instances', 'GET', `/instances/${id}`)
      expect(busy.body).toMatchObject({
        status: 'busy',
        backend,
        holder: 'alice',
        hardware: { verdict: 'match' },
      })

      expect((await stage.request('instances', 'POST', `/instances/${id}/release`, {})).body.status).toBe(
        'idle',
      )
      await stage.until(id, ({ status }) => status === 'terminated')
      const ended = await stage.request('instances', 'GET', `/instances/${id}`)
      expect(ended.body).toMatchObject({ status: 'terminated', terminationReason: 'idle_timeout' })
    },
    120_000,
  )

  test('of the API and the schedules answer, too', async () => {
    expect((await stage.request('offers', 'GET', '/offers')).status).toBe(200)
    expect((await stage.request('instances', 'GET', '/reservations')).status).toBe(200)
    expect((await stage.request('fleets', 'GET', '/fleets')).status).toBe(200)
    expect(await stage.call('keep-fleets', {})).toEqual({ fleets: 0 })
    const fleet = { type: 'fleet', nodes: 0, backends: ['hotaisle'] }
    expect((await stage.request('fleets', 'PUT', '/fleets/empty', fleet)).status).toBe(200)
    expect((await stage.request('fleets', 'GET', '/fleets')).body).toMatchObject({
      fleets: [{ name: 'empty' }],
    })
    expect((await stage.request('fleets', 'DELETE', '/fleets/empty')).status).toBe(202)
    expect(await stage.call('reconcile', {})).toMatchObject({ orphans: 0, lost: 0 })
  }, 60_000)

  test('ask AWS for nothing that their roles do not allow', () => {
    // refresh-catalog would ask Oracle first.
    const called = names.filter((name) => name !== 'refresh-catalog')
    expect(stage.recorder.callers().sort()).toEqual(called)
    for (const name of called) {
      expect(permissionsOf(template, name)).toEqual(expect.arrayContaining(stage.recorder.callsOf(name)))
    }
  })
})
