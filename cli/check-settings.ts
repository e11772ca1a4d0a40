import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadBackends } from '../lib/backends/index.ts'
import { BerthError, messageOf } from '../lib/model/errors.ts'
import type { Settings } from '../lib/model/settings.ts'
import { readSettings } from '../lib/settings-file.ts'
import { newKeyPair } from '../lib/shim/key-pair.ts'
import { publicKeyOf } from '../lib/shim/public-key.ts'
import type { Finding } from './doctor.ts'
import { offerFindings } from './offer-findings.ts'
import type { Surroundings } from './surroundings.ts'

/** Whether a `berth.yml` is right, and whether each of its clouds lets it in. Nothing is rented, made or changed. */
export const checkSettings = async function* (at: Surroundings, file: string): AsyncGenerator<Finding> {
  let settings: Settings
  try {
    settings = await readSettings(readFileSync(resolve(at.folder, file), 'utf8'), file)
  } catch (error) {
    const errors = error instanceof BerthError ? error.errors : []
    if (errors.length === 0) {
      yield { what: file, state: 'wrong', found: messageOf(error), mend: 'see docs/settings.md' }
    }
    for (const { path, message } of errors) {
      yield {
        what: `${file}, ${path || 'as a whole'}`,
        state: 'wrong',
        found: message,
        mend: 'see docs/settings.md',
      }
    }
    return
  }
  const types = settings.backends.map(({ type }) => type).join(', ')
  yield { what: file, state: 'ok', found: `is valid; backends: ${types}` }
  const key = sshKeyOf(settings)
  if ('finding' in key) yield key.finding
  if ('publicKey' in key) yield* checkBackends(at, settings, key.publicKey)
}

const checkBackends = async function* (
  { now }: Surroundings,
  settings: Settings,
  sshPublicKey: string,
): AsyncGenerator<Finding> {
  const createBackends = await loadBackends(settings.backends)
  const backends = createBackends({
    sshPublicKey,
    userData: async () => '',
    catalogues: { get: async () => undefined },
    clock: { now },
  })
  for (const backend of backends) {
    const what = `${backend.type}, credentials`
    const checked = await backend.check()
    if (!checked.ok) {
      // The message says what to do.
      yield { what, state: 'wrong', found: checked.message }
      continue
    }
    yield { what, state: 'ok', found: 'accepted, and may create and delete machines' }
    const { offers, errors } = await backend.offers({})
    yield* offerFindings(offers, errors)
  }
}

const sshKeyOf = (settings: Settings): { finding: Finding } | { publicKey: string } => {
  const { private_key: privateKey } = settings.ssh
  // One is made at the first start. Nothing is sent of the one that stands in for it here.
  if (privateKey === undefined) return { publicKey: newKeyPair().publicKey }
  try {
    return { publicKey: publicKeyOf(privateKey) }
  } catch (error) {
    return { finding: { what: 'ssh.private_key', state: 'wrong', found: messageOf(error) } }
  }
}
