import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import * as z from 'zod'
import { hashOf } from '../../lib/http/authorize.ts'
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
  const apiKey = before?.success ? before.data.apiKey : `berth_${randomBytes(32).toString('base64url')}`
  if ((await store.findApiKey(hashOf(apiKey))) === undefined) {
    await store.addApiKey({ hash: hashOf(apiKey), name: 'local', role: 'operator', createdAt: Date.now() })
  }
  writeFileAtomic.sync(file, `${JSON.stringify({ url, apiKey }, null, 2)}\n`, { mode: 0o600 })
  return { url, apiKey }
}
