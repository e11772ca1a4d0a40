import {
  GetParametersCommand,
  ParameterAlreadyExists,
  PutParameterCommand,
  type SSMClient,
} from '@aws-sdk/client-ssm'
import * as z from 'zod'
import { fileNamesIn } from '../lib/model/settings.ts'
import { readSettings } from '../lib/settings-file.ts'
import { newKeyPair } from '../lib/shim/key-pair.ts'
import { publicKeyOf } from '../lib/shim/public-key.ts'
import { stage as anyStage } from './names.ts'
import { parameters } from './roles.ts'

/** A `berth.yml` that was given to the deployment. */
export type GivenSettings = { file: string; text: string }

/**
 * Makes the SecureStrings that a deployment reads, where they are absent: the SSH key, which is never written again,
 * and the settings, which are replaced whenever new ones are given. Returns what was done, a line each. Throws an Error
 * that says what to do, before anything is written.
 */
export const prepareSecrets = async (
  client: SSMClient,
  { stage, given }: { stage: string; given?: GivenSettings | undefined },
): Promise<string[]> => {
  const settingsName = parameters.settings.replace(anyStage, stage)
  const keyName = parameters.sshKey.replace(anyStage, stage)
  const there = await existing(client, [settingsName, keyName])
  if (!there.has(settingsName) && !given) {
    throw new Error(
      `There are no settings for the stage ${stage} yet. Give them once: npm run deploy -- --settings berth.yml (docs/settings.md says what stands in it)`,
    )
  }
  if (there.has(settingsName) && !there.has(keyName)) {
    throw new Error(
      `There are settings, but no SSH key at ${keyName}: with a new one, machines in service could not be entered. Put it back, or follow docs/runbook.md, "SSH key".`,
    )
  }
  const settings = given && (await deployable(given))
  const done: string[] = []
  // The key first: settings without a key are a loss, not a beginning.
  if (!there.has(keyName)) done.push(await makeKey(client, keyName, settings?.privateKey))
  else if (settings?.privateKey) done.push(`ssh.private_key is not taken: ${keyName} has a key already.`)
  if (settings) {
    await client.send(
      new PutParameterCommand({
        Name: settingsName,
        Value: settings.text,
        Type: 'SecureString',
        Overwrite: there.has(settingsName),
        Tier: tier,
      }),
    )
    done.push(`The settings of ${given?.file} are in ${settingsName}.`)
  }
  return done
}

/** Over 4 KB, which two clouds' credentials can be, a parameter costs 5 cents a month; below, nothing. */
const tier = 'Intelligent-Tiering'

const existing = async (client: SSMClient, Names: string[]): Promise<Set<string>> => {
  const { Parameters = [] } = await client.send(new GetParametersCommand({ Names }))
  return new Set(Parameters.flatMap(({ Name }) => Name ?? []))
}

/** As JSON, for which no function has to load a parser of YAML, and without the key, which has a parameter of its own. */
const deployable = async ({ file, text }: GivenSettings) => {
  const settings = await readSettings(text, file)
  const needed = fileNamesIn(settings)
  if (needed.length > 0) {
    throw new Error(
      `${file} names files, and a deployment has none: ${needed.join('; ')}. Put what they hold into the settings (docs/settings.md, "OCI").`,
    )
  }
  // Throws where it cannot be read.
  if (settings.ssh.private_key !== undefined) publicKeyOf(settings.ssh.private_key)
  const { parse } = await import('yaml')
  const { ssh: _, ...rest } = z.record(z.string(), z.unknown()).parse(parse(text))
  return { text: JSON.stringify(rest), privateKey: settings.ssh.private_key }
}

const makeKey = async (client: SSMClient, Name: string, given: string | undefined): Promise<string> => {
  const Value = given ?? newKeyPair().privateKey
  try {
    await client.send(new PutParameterCommand({ Name, Value, Type: 'SecureString', Tier: tier }))
    return `${given === undefined ? 'A new SSH key' : 'The SSH key of the settings'} is in ${Name}.`
  } catch (error) {
    if (error instanceof ParameterAlreadyExists)
      return `Another deployment has just made the SSH key in ${Name}.`
    throw error
  }
}
