import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import * as z from 'zod'
import { hashOf } from '../../lib/http/authorize.ts'
import { newApiKey } from '../../lib/http/new-api-key.ts'
import { newKeyPair } from '../../lib/shim/key-pair.ts'
import type { ApiKeys } from '../../lib/store/store.ts'

const client = z.object({ url: z.string(), apiKey: z.string() })

/** The SSH key of this sandbox, made at the first start; readable by its owner alone. */
export const sandboxPrivateKey = (folder: string): string => {
  const file = join(folder, 'ssh_key')
  if (existsSync(file)) return readFileSync(file, 'utf8')
  const { privateKey } = newKeyPair()
  writeFileAtomic.sync(file, privateKey, { mode: 0o600 })
  return privateKey
}

/** Writes `client.json`, which commands read, with the API key that the first start made. */
export const writeClientFile = async (
  folder: string,
  url: string,
  store: ApiKeys,
): Promise<{ url: string; apiKey: string }> => {
  const file = join(folder, 'client.json')
  const before = existsSync(file) ? client.safeParse(JSON.parse(readFileSync(file, 'utf8'))) : undefined
  const apiKey = (before?.success && (await known(before.data.apiKey, store))) || (await newLocalKey(store))
  writeFileAtomic.sync(file, `${JSON.stringify({ url, apiKey }, null, 2)}\n`, { mode: 0o600 })
  return { url, apiKey }
}

const known = async (apiKey: string, store: ApiKeys): Promise<string | undefined> =>
  (await store.findApiKey(hashOf(apiKey))) && apiKey

/** Takes the place of one that was revoked, or whose file is gone. */
const newLocalKey = async (store: ApiKeys): Promise<string> => {
  const { apiKey, kept } = newApiKey({ name: 'local', role: 'operator', createdAt: Date.now() })
  await store.removeApiKey(kept.name)
  await store.addApiKey(kept)
  return apiKey
}
