import * as z from 'zod'
import type { Settings } from './model/settings.ts'
import { readSettings } from './settings-file.ts'

const environment = z
  .object({
    /** The settings themselves, in the YAML of `berth.yml`: for bundles that run on no account. */
    BERTH_SETTINGS: z.string().min(1).optional(),
    /** Names of the SecureStrings of SSM that hold the settings, and the private key by which machines are entered. */
    BERTH_SETTINGS_PARAMETER: z.string().min(1).optional(),
    BERTH_SSH_KEY_PARAMETER: z.string().min(1).optional(),
  })
  .refine(
    (env) => env.BERTH_SETTINGS ?? env.BERTH_SETTINGS_PARAMETER,
    'set BERTH_SETTINGS_PARAMETER, or BERTH_SETTINGS',
  )

/**
 * The settings and the private key of a deployed function, read in one call of SSM. Throws an Error that names the
 * parameter or key that is missing or wrong, and shows nothing of a value.
 */
export const lambdaSecrets = async (
  env: NodeJS.ProcessEnv,
): Promise<{ settings: Settings; privateKey: string }> => {
  const variables = environment.parse(env)
  const settingsName = variables.BERTH_SETTINGS === undefined ? variables.BERTH_SETTINGS_PARAMETER : undefined
  const keyName = variables.BERTH_SSH_KEY_PARAMETER
  const values = await parameters([settingsName, keyName].flatMap((name) => name ?? []))
  const text = variables.BERTH_SETTINGS ?? values.get(settingsName ?? '') ?? ''
  const settings = await readSettings(text, settingsName ?? 'BERTH_SETTINGS')
  const privateKey = keyName === undefined ? settings.ssh.private_key : values.get(keyName)
  if (privateKey === undefined) {
    throw new Error(
      'There is no SSH key: BERTH_SETTINGS needs ssh.private_key, or set BERTH_SSH_KEY_PARAMETER',
    )
  }
  return { settings, privateKey }
}

/** SSM's client is loaded where there is something to read, by the parts that are used. */
const parameters = async (names: string[]): Promise<Map<string, string>> => {
  if (names.length === 0) return new Map()
  const { readParameters } = await import('./lambda-parameters.ts')
  return readParameters(names)
}
