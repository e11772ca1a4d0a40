import {
  GetParametersCommand,
  ParameterAlreadyExists,
  PutParameterCommand,
  type SSMClient,
} from '@aws-sdk/client-ssm'
import * as z from 'zod'
import { messageOf } from '../lib/model/errors.ts'
import { fileNamesIn } from '../lib/model/settings.ts'
import { readSettings } from '../lib/settings-file.ts'
import { newKeyPair } from '../lib/shim/key-pair.ts'
import { publicKeyOf } from '../lib/shim/public-key.ts'
import { ofStage } from './names.ts'
import { parameters } from './roles.ts'

/** A `berth.yml` that was given to the deployment. */
export type GivenSettings = { file: string; text: string }

/**
 * The SecureStrings that a deployment reads. All is checked here, also that the settings which stay are those of this
 * version; throws an Error that says what to do. `put` then makes what is absent: the SSH key, which is never written
 * again, and the settings, which are replaced whenever new ones are given. It returns what was done, a line each.
 */
export const prepareSecrets = async (
  client: SSMClient,
  { stage, given }: { stage: string; given?: GivenSettings | undefined },
): Promise<{ put: () => Promise<string[]> }> => {
  const settingsName = ofStage(parameters.settings, stage)
  const keyName = ofStage(parameters.sshKey, stage)
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
  if (!given) await mustBeOfThisVersion(client, settingsName)
  const put = async (): Promise<string[]> => {
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
  return { put }
}

/** Over 4 KB, which two clouds' credentials can be, a parameter costs 5 cents a month; below, nothing. */
const tier = 'Intelligent-Tiering'

const existing = async (client: SSMClient, Names: string[]): Promise<Set<string>> => {
  const { Parameters = [] } = await client.send(new GetParametersCommand({ Names }))
  return new Set(Parameters.flatMap(({ Name }) => Name ?? []))
}

/** Functions that cannot read their settings give nothing back. */
const mustBeOfThisVersion = async (client: SSMClient, name: string): Promise<void> => {
  const { Parameters = [] } = await client.send(
    new GetParametersCommand({ Names: [name], WithDecryption: true }),
  )
  try {
    await readSettings(Parameters[0]?.Value ?? '', name)
  } catch (error) {
    throw new Error(
      `This version cannot read the settings that are there. Give it those that it can: npm run deploy -- --settings berth.yml\n${messageOf(error)}`,
    )
  }
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
