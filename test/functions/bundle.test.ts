import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { eventsFor, httpEvent } from '../../bench/bundle-events.ts'
import { startBundleStage } from '../../bench/bundle-stage.ts'
import { runBundle } from '../../bench/run-bundle.ts'
import { type Bundles, bundleFunctions, functionFiles } from '../../infra/bundle.ts'
import { knownAwsErrors } from '../../infra/bundle-plugins.ts'
import { loadedAtStart, loadedFrom, sourcesOf } from '../../infra/chunks.ts'
import { openApiDocument } from '../../lib/http/openapi-document.ts'
import { startFakeSsm } from '../fakes/fake-ssm.ts'
import { answered, checkAnswer } from '../support/answers-as-documented.ts'

const names = functionFiles().map((file) => file.replace(/^.*\/|\.ts$/g, ''))
const folder = mkdtempSync(join(tmpdir(), 'berth-bundles-'))
let bundles: Bundles
let stage: Awaited<ReturnType<typeof startBundleStage>>

beforeAll(async () => {
  bundles = await bundleFunctions(folder)
  stage = await startBundleStage()
}, 120_000)
afterAll(async () => {
  await stage.stop()
  rmSync(folder, { recursive: true })
})

const bundleOf = (name: string) => {
  const bundle = bundles.functions.find((each) => each.name === name)
  if (!bundle) throw new Error(`there is no bundle of ${name}`)
  return { ...bundle, output: relative(process.cwd(), bundle.file) }
}

const shownOffers = z.object({
  offers: z.array(z.object({ backend: z.string() })),
  errors: z.array(z.unknown()),
})

/** Packages of which only OCI needs something are those that nothing else brings: the SDK and what it stands on. */
const ofOci = /node_modules\/(oci-[^/]+|sshpk|jsonwebtoken|http-signature|opossum|node-fetch|jssha)\//
const packagesIn = (outputs: Set<string>, pattern: RegExp) => [
  ...new Set(sourcesOf(bundles.metafile, outputs).flatMap((file) => pattern.exec(file)?.[1] ?? [])),
]

/** Those that visit neither clouds nor machines. */
const ofTableAlone = ['authorize', 'idle-check']

test.each(ofTableAlone)('%s has nothing of clouds, SSH and its keys', (name) => {
  const outputs = loadedFrom(bundles.metafile, bundleOf(name).output)
  expect(packagesIn(outputs, ofOci)).toEqual([])
  expect(packagesIn(outputs, /(node_modules\/ssh2|lib\/(?:backends|shim))\//)).toEqual([])
})

test.each(names)('%s is under 400 kB without OCI, with all that its first answer needs', (name) => {
  expect(bundleOf(name).bytes).toBeLessThan(400_000)
})

test('every error of AWS that code tells by its class is one that the bundles know', () => {
  const sources = new Set(
    names.flatMap((name) => sourcesOf(bundles.metafile, loadedFrom(bundles.metafile, bundleOf(name).output))),
  )
  const told = [...sources]
    .filter((file) => file.startsWith('lib/'))
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/instanceof (\w+Exception)\b/g)].map(([, error = '']) => error),
    )
  expect(told.length).toBeGreaterThan(0)
  expect([...new Set(told)].filter((error) => !knownAwsErrors.includes(error))).toEqual([])
})

test.each(names.filter((name) => !ofTableAlone.includes(name)))(
  "%s reads nothing of Oracle's SDK before OCI is called, and has it then",
  (name) => {
    const { output, bytes, ociBytes } = bundleOf(name)
    expect(packagesIn(loadedAtStart(bundles.metafile, output), ofOci)).toEqual([])
    expect(packagesIn(loadedFrom(bundles.metafile, output), ofOci)).toEqual(
      expect.arrayContaining(['oci-common', 'oci-core', 'oci-identity', 'oci-marketplace', 'sshpk']),
    )
    expect(ociBytes).toBeGreaterThan(bytes)
  },
)

test.each(names)('%s reads nothing of SSH before a machine is visited', (name) => {
  const { output } = bundleOf(name)
  const pattern = /node_modules\/(ssh2|asn1|bcrypt-pbkdf|tweetnacl)\//
  expect(packagesIn(loadedAtStart(bundles.metafile, output), pattern)).toEqual([])
})

test.each(names)('%s answers from its bundle', async (name) => {
  const event = await eventsFor(stage.store)[name]?.()
  const { answer } = await runBundle(bundleOf(name).file, event, stage.withoutOci)
  const good = {
    authorize: { isAuthorized: true },
    offers: { statusCode: 200 },
    instances: { statusCode: 200 },
    'idle-check': { due: expect.any(Number) },
    fleets: { statusCode: 200 },
    'keep-fleets': { fleets: 0 },
    reconcile: { orphans: 0, lost: 0 },
    'refresh-catalog': { kept: [] },
  }
  expect(answer).toMatchObject(
    Object.entries(good).find(([key]) => key === name)?.[1] ?? { batchItemFailures: [] },
  )
})

test('offers answers the document of the API, which is in the bundle as it was made', async () => {
  const event = httpEvent('/openapi.json')
  const { answer } = await runBundle(bundleOf('offers').file, event, stage.withoutOci)
  const { status, headers, body } = answered.parse(answer)
  checkAnswer('GET', '/openapi.json', { status, headers, body })
  expect(status).toBe(200)
  expect(body).toBe(openApiDocument)
})

test.each(names)('%s brings nothing of what makes the document, and reads none at its start', (name) => {
  const { output } = bundleOf(name)
  const all = sourcesOf(bundles.metafile, loadedFrom(bundles.metafile, output))
  expect(all.filter((file) => /node_modules\/zod-openapi\/|lib\/http\/openapi\.ts$/.test(file))).toEqual([])
  const atStart = sourcesOf(bundles.metafile, loadedAtStart(bundles.metafile, output))
  expect(atStart).not.toContain('lib/http/openapi-document.ts')
  expect(all.includes('lib/http/openapi-document.ts')).toBe(name === 'offers')
})

test('offers shows those of both clouds from its bundle', async () => {
  const event = await eventsFor(stage.store).offers?.()
  const { answer } = await runBundle(bundleOf('offers').file, event, stage.withOci)
  const { body } = z.object({ body: z.string() }).parse(answer)
  const { offers, errors } = shownOffers.parse(JSON.parse(body))
  expect(errors).toEqual([])
  expect([...new Set(offers.map(({ backend }) => backend))].sort()).toEqual(['hotaisle', 'oci'])
})

test('offers finds its settings and its SSH key in SSM from its bundle', async () => {
  const ssm = await startFakeSsm()
  try {
    const { BERTH_SETTINGS, ...environment } = stage.withoutOci
    const { ssh, ...settings } = JSON.parse(BERTH_SETTINGS)
    ssm.put('/berth/prod/settings', JSON.stringify(settings))
    ssm.put('/berth/prod/ssh-key', ssh.private_key)
    const event = await eventsFor(stage.store).offers?.()
    const { answer } = await runBundle(bundleOf('offers').file, event, {
      ...environment,
      AWS_ENDPOINT_URL_SSM: ssm.url,
      BERTH_SETTINGS_PARAMETER: '/berth/prod/settings',
      BERTH_SSH_KEY_PARAMETER: '/berth/prod/ssh-key',
    })
    const { body } = z.object({ body: z.string() }).parse(answer)
    expect(shownOffers.parse(JSON.parse(body)).offers.length).toBeGreaterThan(0)
    expect(ssm.calls()).toEqual(['GetParameters'])
  } finally {
    await ssm.stop()
  }
})

test('instances logs a new one in a line of JSON that names the instance and the invocation', async () => {
  const event = httpEvent('/instances', { gpu: 'MI300X:1' })
  const { answer, output } = await runBundle(bundleOf('instances').file, event, {
    ...stage.withoutOci,
    POWERTOOLS_LOG_LEVEL: 'INFO',
  })
  const { id } = z
    .object({ id: z.string() })
    .parse(JSON.parse(z.object({ body: z.string() }).parse(answer).body))
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toContainEqual(
    expect.objectContaining({
      level: 'INFO',
      service: 'berth',
      instanceId: id,
      status: 'pending',
      function_request_id: 'request-1',
      message: expect.stringContaining('MI300X'),
    }),
  )
})
