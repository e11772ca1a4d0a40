import { basename } from 'node:path'
import { build } from 'esbuild'
import { functionFiles } from '../../infra/bundle.ts'
import { readyOpenApi } from '../../infra/bundle-plugins.ts'

/** What each call of a port comes to at AWS; `dynamodb:Query` with where it looks. */
const asks: Record<string, string[]> = {
  'store.get': ['dynamodb:GetItem table'],
  'store.used': ['dynamodb:GetItem table'],
  'store.create': ['dynamodb:PutItem table', 'dynamodb:GetItem table'],
  'store.update': ['dynamodb:PutItem table'],
  'store.olderEvents': ['dynamodb:Query table'],
  'store.list': ['dynamodb:Query table/index/listed', 'dynamodb:BatchGetItem table'],
  'store.reserved': ['dynamodb:Query table/index/reserved', 'dynamodb:BatchGetItem table'],
  'store.due': ['dynamodb:Query table/index/due', 'dynamodb:BatchGetItem table'],
  'store.takeLock': ['dynamodb:PutItem table'],
  'store.freeLock': ['dynamodb:DeleteItem table'],
  'store.findApiKey': ['dynamodb:GetItem table'],
  'store.addApiKey': ['dynamodb:PutItem table'],
  'store.changeApiKey': ['dynamodb:PutItem table'],
  'store.spend': ['dynamodb:GetItem table'],
  'store.putSpend': ['dynamodb:PutItem table'],
  'store.costs': ['dynamodb:Query table'],
  'store.keyLimits': ['dynamodb:GetItem table'],
  'store.listApiKeys': ['dynamodb:Query table'],
  'store.owner': ['dynamodb:GetItem table', 'dynamodb:PutItem table'],
  'catalogues.get': ['dynamodb:GetItem table'],
  'catalogues.put': ['dynamodb:PutItem table'],
  'fleets.get': ['dynamodb:GetItem table'],
  'fleets.list': ['dynamodb:Query table'],
  'fleets.put': ['dynamodb:PutItem table'],
  'fleets.remove': ['dynamodb:DeleteItem table'],
  'sightings.get': ['dynamodb:GetItem table'],
  'sightings.put': ['dynamodb:PutItem table'],
  'queues.send': ['provision', 'bootstrap', 'check', 'terminate'].map((step) => `sqs:SendMessage ${step}`),
  'queues.bury': ['sqs:SendMessage dead-letters'],
}

/**
 * What the code of each function can ask of the table and the queues: every call of the store and of the queues that is
 * left in its bundle when it is built alone, so that nothing of other functions is kept. Throws at a call it does not
 * know.
 */
export const callsInCode = async (): Promise<Record<string, string[]>> => {
  const all = await Promise.all(
    functionFiles().map(async (file) => [basename(file, '.ts'), callsIn(await codeOf(file))] as const),
  )
  return Object.fromEntries(all)
}

const codeOf = async (file: string): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    treeShaking: true,
    // As it is deployed: a text, and not every route.
    plugins: [readyOpenApi],
    logLevel: 'error',
  })
  return outputFiles.map(({ text }) => text).join('\n')
}

const callsIn = (code: string): string[] => {
  // Each file's code stands behind its name. How the store asks does not count; who asks it does.
  const files = code.split(/^\/\/ (?=\S+\.(?:ts|json)$)/m).filter((text) => !text.startsWith('lib/store/'))
  const calls = files.flatMap((text) => [
    ...text.matchAll(/\b(store|catalogues|sightings|fleets|queues)\.(\w+)(?:\.\w+)?\(/g),
  ])
  const names = calls.map(([whole, port, method]) =>
    ['catalogues', 'sightings', 'fleets'].includes(method ?? '') ? whole.slice(6, -1) : `${port}.${method}`,
  )
  const known = names.flatMap((name) => {
    const found = asks[name]
    if (!found) throw new Error(`nobody has said what ${name} asks of AWS`)
    return found
  })
  return [...new Set(known)].sort()
}
