import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** Runs a script in a process of its own; what it prints last, as JSON. */
const run = (script: string): unknown => {
  const args = ['--input-type=module', '--eval', script]
  const output = execFileSync(process.execPath, args, { cwd: process.cwd(), encoding: 'utf8' })
  return JSON.parse(output.trim().split('\n').at(-1) ?? '')
}

/** Parts of Oracle's SDK that a process has loaded; they are CommonJS, so `require` knows them. */
const loaded = `
  const { createRequire } = await import('node:module')
  const parts = Object.keys(createRequire(process.cwd() + '/x.js').cache).flatMap((file) => /node_modules\\/(oci-[^/]+)\\//.exec(file)?.[1] ?? [])
  return [...new Set(parts)].sort()`

const script = (body: string) => `
  const loaded = async () => {${loaded}}
  await import('./lib/lambda-context.ts')
  const { loadBackends } = await import('./lib/backends/index.ts')
  const { settings } = await import('./lib/model/settings.ts')
  const endpoint = 'http://127.0.0.1:9/{service}/{region}'
  const { backends } = settings.parse({ backends: [
    { type: 'hotaisle', team_handle: 't', creds: { api_key: 'a.b' }, api_url: 'http://127.0.0.1:9/' },
    { type: 'oci', endpoint, creds: { type: 'default', file: '/nowhere' } },
  ] })
  const made = (await loadBackends(backends))({ sshPublicKey: 'k', userData: async () => '', clock: { now: () => 0 }, catalogues: { get: async () => undefined } })
  ${body}
  console.log(JSON.stringify(await loaded()))`

test("Oracle's SDK is loaded neither by the functions nor by a backend that is made, nor by another's call", () => {
  expect(run(script('await made[0].offers({})'))).toEqual([])
})

test('it is loaded when OCI is first called', () => {
  expect(run(script('await made[1].offers({})'))).toEqual(
    expect.arrayContaining(['oci-common', 'oci-core', 'oci-identity', 'oci-marketplace']),
  )
})
