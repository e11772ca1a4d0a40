import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../../model/errors.ts'
import type { OciSettings } from '../../model/settings.ts'
import { failed, OciFailure } from './answer.ts'
import type { Sdk } from './sdk.ts'

/** What signs requests. */
export type Credentials = {
  tenancy: string
  /** The one that is asked about the account. */
  region: string
  privateKey: string
  passPhrase: string | null
  /** Names the public key that OCI is to check the signature with. */
  keyId(): string
  /** Of `oci session authenticate`: good for an hour, and then exchanged for another while the session lasts. */
  session?: { token: string; file?: string | undefined }
  /** What to do when OCI does not accept them. */
  advice: string
}

/**
 * Reads the credentials that the settings name. Throws an OciFailure with the status of bad credentials, that says
 * what is missing where.
 */
export const openCredentials = (creds: OciSettings['creds'], sdk: Sdk): Credentials => {
  const parts = creds.type === 'default' ? fromProfile(creds, sdk) : fromSettings(creds)
  const region = regionOf(parts.region, sdk)
  const { tenancy, privateKey, passPhrase, session } = parts
  if (session) {
    const advice =
      'OCI no longer accepts the session token, and it can not be renewed: the session has ended. Run ' +
      `"oci session authenticate --region ${region}${parts.profile === undefined ? '' : ` --profile-name ${parts.profile}`}"` +
      (session.file === undefined ? ', then put the new token and key into creds' : '')
    return { tenancy, region, privateKey, passPhrase, session, advice, keyId: () => `ST$${session.token}` }
  }
  const { user, fingerprint } = parts
  const advice =
    `OCI does not accept the API key ${fingerprint} of ${user}. Add its public key to that user in the OCI console ` +
    '(Profile, Tokens and keys), or correct user, tenancy, fingerprint and key'
  return { tenancy, region, privateKey, passPhrase, advice, keyId: () => `${tenancy}/${user}/${fingerprint}` }
}

/** The contents of a file of the credentials. */
export const readCredentialsFile = (file: string, what: string): string => {
  try {
    return readFileSync(
      file.replace(/^~(?=[/\\])/, () => homedir()),
      'utf8',
    )
  } catch (error) {
    throw bad(`${what} can't be read: ${messageOf(error)}`)
  }
}

type Parts = {
  tenancy: string
  region: string
  privateKey: string
  passPhrase: string | null
  user?: string | undefined
  fingerprint?: string | undefined
  session?: Credentials['session']
  profile?: string
}

const fromSettings = (creds: Exclude<OciSettings['creds'], { type: 'default' }>): Parts => ({
  tenancy: creds.tenancy,
  region: creds.region,
  privateKey: creds.key_content ?? readCredentialsFile(creds.key_file ?? '', 'The file of creds.key_file'),
  passPhrase: creds.pass_phrase ?? null,
  ...(creds.type === 'client'
    ? { user: creds.user, fingerprint: creds.fingerprint }
    : { session: { token: creds.security_token.trim() } }),
})

const fromProfile = (
  { file, profile }: Extract<OciSettings['creds'], { type: 'default' }>,
  sdk: Sdk,
): Parts => {
  const where = `the profile ${profile} of ${file}`
  const text = readCredentialsFile(file, `The OCI config file ${file}`)
  const config = parsed(text, profile, where, sdk)
  const get = (key: string): string => {
    const value = config.get(key)?.trim()
    if (!value)
      throw bad(`There is no ${key} in ${where}. Run "oci session authenticate" or "oci setup config"`)
    return value
  }
  const beside = (path: string) => (/^[~/\\]|^\w:/.test(path) ? path : join(file, '..', path))
  const parts = {
    tenancy: get('tenancy'),
    region: get('region'),
    privateKey: readCredentialsFile(beside(get('key_file')), `The key_file of ${where}`),
    passPhrase: config.get('pass_phrase'),
    profile,
  }
  // A profile takes over what DEFAULT has, so only a user of its own makes it one with an API key.
  const own = config.profileCredentials.configurationsByProfile.get(profile)
  if (own?.has('user') || !config.get('security_token_file'))
    return { ...parts, user: get('user'), fingerprint: get('fingerprint') }
  const tokenFile = beside(get('security_token_file'))
  const token = readCredentialsFile(tokenFile, `The security_token_file of ${where}`).trim()
  return { ...parts, session: { token, file: tokenFile } }
}

const parsed = (text: string, profile: string, where: string, sdk: Sdk) => {
  try {
    const config = sdk.common.ConfigFileReader.parse(text, profile)
    if (config.profileCredentials.configurationsByProfile.has(profile)) return config
  } catch (error) {
    throw bad(`What is in ${where} can't be read: ${messageOf(error)}`)
  }
  throw bad(
    `There is no ${where}. Run "oci session authenticate --profile-name ${profile}", or correct creds.profile`,
  )
}

/** dstack takes a region's key (`FRA`) too. */
const regionOf = (written: string, { common }: Sdk): string =>
  common.Region.values().find(({ regionCode }) => regionCode === written.toLowerCase())?.regionId ?? written

const bad = (message: string) => new OciFailure(failed(401, 'NotAuthenticated', message))
