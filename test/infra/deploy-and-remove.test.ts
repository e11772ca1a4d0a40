import { execFile } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateTableCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasTable } from '../../infra/has-table.ts'
import { createDynamoClient } from '../../lib/store/dynamo-client.ts'
import { createDynamoStore } from '../../lib/store/dynamo-store.ts'
import type { Store } from '../../lib/store/store.ts'
import { tableDefinition } from '../../lib/store/table.ts'
import { startDynamo } from '../../sandbox/local/dynoxide.ts'
import { startFakeSsm } from '../fakes/fake-ssm.ts'
import { countingRandom } from '../support/counting-random.ts'
import { anIdleInstance, anInstance } from '../support/instances.ts'

const folder = mkdtempSync(join(tmpdir(), 'berth-remove-'))
const asked = join(folder, 'asked')
const standIn = `#!/bin/sh\necho "$@" >> "${asked}"\n`
let dynamo: Awaited<ReturnType<typeof startDynamo>>
let client: ReturnType<typeof createDynamoClient>
let ssm: Awaited<ReturnType<typeof startFakeSsm>>

/** In the place of osls, which needs an account: writes down what it is asked. */
beforeAll(async () => {
  const osls = join(folder, 'osls')
  writeFileSync(osls, standIn)
  chmodSync(osls, 0o755)
  dynamo = await startDynamo({})
  client = createDynamoClient(dynamo.config)
  ssm = await startFakeSsm()
})
afterAll(async () => {
  client.destroy()
  await ssm.stop()
  await dynamo.stop()
  rmSync(folder, { recursive: true })
})
beforeEach(() => rmSync(asked, { force: true }))

const run = (script: string, ...args: string[]): Promise<{ code: number; out: string; err: string }> =>
  new Promise((resolve) => {
    const env = {
      PATH: `${folder}:${process.env.PATH}`,
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_DYNAMODB: String(dynamo.config.endpoint),
      AWS_ENDPOINT_URL_SSM: ssm.url,
    }
    execFile(process.execPath, [script, ...args], { env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    )
  })
const askedOfOsls = () => (existsSync(asked) ? readFileSync(asked, 'utf8').trim() : '')

describe('npm run remove', () => {
  let stages = 0
  /** The table of a stage of its own. */
  const aStage = async (): Promise<{ stage: string; store: Store }> => {
    const stage = `s${++stages}`
    await client.send(new CreateTableCommand(tableDefinition(`berth-${stage}`)))
    return { stage, store: createDynamoStore({ client, table: `berth-${stage}`, random: countingRandom() }) }
  }

  test('refuses while instances live, says which and what to do, and removes nothing', async () => {
    const { stage, store } = await aStage()
    const until = Date.UTC(2040, 0, 1)
    const reservation = { until, minimumMinutes: 480, chargeCents: 21_696, state: 'active' as const }
    await store.create(anInstance({ id: 'i-00000000000a', name: 'waits', status: 'pending' }))
    await store.create(anIdleInstance({ id: 'i-00000000000b', name: 'prepaid', reservation }))
    await store.create(anIdleInstance({ id: 'i-00000000000c', name: 'leaves', status: 'terminating' }))
    await store.create(anIdleInstance({ id: 'i-00000000000d', name: 'gone', status: 'terminated' }))
    const { code, err } = await run('infra/remove.ts', '--stage', stage)
    expect(code).toBe(1)
    expect(err).toContain('Nothing was removed')
    expect(err).toMatch(/i-00000000000a \(waits\) is pending/)
    expect(err).toMatch(/i-00000000000b \(prepaid\) is idle, .*prepaid until 2040-01-01T00:00:00.000Z/)
    expect(err).toMatch(/i-00000000000c \(leaves\) is terminating/)
    expect(err).not.toContain('i-00000000000d')
    expect(err).toContain('DELETE /instances/<id>')
    expect(askedOfOsls()).toBe('')
  })

  test('finds the one that lives among many, page by page', async () => {
    const { stage, store } = await aStage()
    for (let n = 0; n < 120; n++) {
      await store.create(anIdleInstance({ id: `i-${String(n).padStart(12, '0')}`, createdAt: n }))
    }
    const { code, err } = await run('infra/remove.ts', '--stage', stage)
    expect(code).toBe(1)
    expect(err.match(/is idle/g)).toHaveLength(120)
  })

  test('removes the stack when all are terminated, and says what stays', async () => {
    const { stage, store } = await aStage()
    await store.create(anIdleInstance({ status: 'terminated' }))
    const { code, out } = await run('infra/remove.ts', '--stage', stage, '--region', 'eu-west-1')
    expect(code).toBe(0)
    expect(askedOfOsls()).toBe(`remove --stage ${stage} --region eu-west-1`)
    expect(out).toContain(`the table berth-${stage}`)
    expect(out).toContain(`/berth/${stage}/ssh-key`)
  })

  test('works in a checkout in which nothing was ever packaged', async () => {
    const checkout = join(folder, 'checkout')
    for (const part of ['infra', 'lib', 'sandbox', 'serverless.yml', 'package.json']) {
      cpSync(part, join(checkout, part), { recursive: true })
    }
    symlinkSync(join(process.cwd(), 'node_modules'), join(checkout, 'node_modules'))
    // The real one, which reads serverless.yml whole and asks no account for anything.
    const real = join(process.cwd(), 'node_modules', '.bin', 'osls')
    writeFileSync(join(folder, 'osls'), `#!/bin/sh\nexec "${real}" print --stage never > "${asked}"\n`)
    const { code, out, err } = await run(join(checkout, 'infra', 'remove.ts'), '--stage', 'never')
    writeFileSync(join(folder, 'osls'), standIn)
    expect({ code, out, err }).toMatchObject({ code: 0 })
    expect(askedOfOsls()).toContain('handler: terminate.handler')
  }, 60_000)

  test('removes the stack where there never was a table', async () => {
    expect((await run('infra/remove.ts', '--stage', 'never')).code).toBe(0)
    expect(askedOfOsls()).toBe('remove --stage never --region us-east-1')
  })
})

test('a table is there, or it is not', async () => {
  await client.send(new CreateTableCommand(tableDefinition('berth-there')))
  expect(await hasTable(client, 'berth-there')).toBe(true)
  expect(await hasTable(client, 'berth-elsewhere')).toBe(false)
})

describe('npm run deploy', () => {
  test('asks for settings the first time, before anything is built or deployed', async () => {
    const { code, err } = await run('infra/deploy.ts')
    expect(code).toBe(1)
    expect(err).toContain('npm run deploy -- --settings berth.yml')
    expect(askedOfOsls()).toBe('')
  })

  test.each(['infra/deploy.ts', 'infra/remove.ts'])(
    '%s says what a wrong option should be',
    async (script) => {
      const { code, err } = await run(script, '--stage', 'No Stage')
      expect(code).toBe(1)
      expect(err).toContain('--stage: lower-case letters')
      expect(askedOfOsls()).toBe('')
    },
  )
})
