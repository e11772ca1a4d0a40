import { SSMClient } from '@aws-sdk/client-ssm'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { deployTo } from '../../infra/deployment.ts'
import { startFakeSsm } from '../fakes/fake-ssm.ts'

const table = 'berth-prod'
const given = {
  file: 'berth.yml',
  text: 'backends:\n  - {type: hotaisle, team_handle: acme, creds: {type: api_key, api_key: k.secret}}\n',
}
let ssmServer: Awaited<ReturnType<typeof startFakeSsm>>
let ssm: SSMClient
let ran: string[]
let tables: string[]
beforeEach(async () => {
  ran = []
  tables = []
  ssmServer = await startFakeSsm()
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  ssm = new SSMClient({ endpoint: ssmServer.url, region: 'us-east-1', credentials })
})
afterEach(async () => {
  ssm.destroy()
  await ssmServer.stop()
})
/** Deploys with commands that do nothing but what `on` says of them. */
const deploy = (on: Record<string, () => void> = {}, settings: typeof given | 'as they are' = given) => {
  const said: string[] = []
  const run = (command: string, [first = '']: string[]) => {
    ran.push(`${command === process.execPath ? 'node' : command} ${first}`)
    on[first]?.()
  }
  const asked = {
    stage: 'prod',
    region: 'eu-west-1',
    given: settings === 'as they are' ? undefined : settings,
  }
  return deployTo(
    { ssm, hasTable: async (name) => tables.includes(name), run, say: (line) => said.push(line) },
    asked,
  ).then(() => said)
}
const fails = () => {
  throw new Error('osls deploy failed; what it says stands above.')
}

describe('a deployment', () => {
  test('makes the packages, then the secrets, then the stack', async () => {
    const kept: string[][] = []
    const look = () => void kept.push(Object.keys(ssmServer.values()))
    expect(await deploy({ 'infra/package.ts': look, deploy: look })).toHaveLength(2)
    expect(ran).toEqual(['node infra/package.ts', 'osls deploy'])
    expect(kept).toEqual([[], ['/berth/prod/ssh-key', '/berth/prod/settings']])
  })

  test('whose packages cannot be made changes nothing', async () => {
    await expect(deploy({ 'infra/package.ts': fails })).rejects.toThrow('failed')
    expect(ssmServer.values()).toEqual({})
    expect(ran).toEqual(['node infra/package.ts'])
  })

  test('that fails says whose settings functions read from then on, and where to go on', async () => {
    await expect(deploy({ deploy: fails })).rejects.toThrow(
      /osls deploy failed[\s\S]*The new settings are in place[\s\S]*docs\/deploy.md, "When it fails"/,
    )
    const later = expect(deploy({ deploy: fails }, 'as they are')).rejects
    await later.toThrow('osls deploy failed')
    await later.not.toThrow('new settings')
  })

  test('that fails after it has made the table says how the next one can make it', async () => {
    const makesTable = () => {
      tables.push(table)
      fails()
    }
    const refused = await deploy({ deploy: makesTable }).catch(String)
    expect(refused).toContain(`aws dynamodb delete-table --region eu-west-1 --table-name ${table}`)
    expect(refused).toContain('When the stack is gone or rolled back, and not before')
    const again = await deploy({ deploy: fails }).catch(String)
    expect(again).not.toContain('delete-table')
  })
})
