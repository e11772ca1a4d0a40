import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, resolve } from 'node:path'
import { messageOf } from '../../model/errors.ts'
import type { OciSettings } from '../../model/settings.ts'
import { failed, OciFailure } from './answer.ts'
import { readProfile } from './config-file.ts'
import type { Sdk } from './sdk.ts'

/** What signs requests. */
export type Credentials = {
  tenancy: string
  /** The one that is asked about the account. */
  region: string
  /** PEM, without a pass phrase. */
  privateKey(): string
  /** Names the public key that OCI is to check the signature with. */
  keyId(): string
  session: Session | undefined
  /** What to do when OCI does not accept them. */
  advice: string
}

/** Of `oci session authenticate`: its token is good for an hour, and then exchanged for another while it lasts. */
export type Session = {
  token: string
  privateKey: string
  /** What its files say now, where it has files. Throws where they can't be read. */
  reread?: () => { token: string; privateKey: string }
}

/**
 * Reads the credentials that the settings name. Throws an OciFailure with the status of bad credentials, that says
 * what is missing where.
 */
export const openCredentials = (creds: OciSettings['creds'], sdk: Sdk): Credentials => {
  const parts = creds.type === 'default' ? fromProfile(creds) : fromSettings(creds)
  const region = regionOf(parts.region, sdk)
  const { tenancy, signer } = parts
  if ('session' in signer) {
    const { session } = signer
    const advice =
      'OCI no longer accepts the session token, and it can not be renewed: the session has ended. Run ' +
      `"oci session authenticate --region ${region}` +
      (parts.profile === undefined
        ? '", then put the new token and key into creds'
        : ` --profile-name ${parts.profile}"`)
    return {
      tenancy,
      region,
      session,
      advice,
      privateKey: () => session.privateKey,
      keyId: () => `ST$${session.token}`,
    }
  }
  const { user, fingerprint, privateKey } = signer
  const advice =
    `OCI does not accept the API key ${fingerprint} of ${user}. Add its public key to that user in the OCI console ` +
    '(Profile, Tokens and keys), or correct user, tenancy, fingerprint and key'
  return {
    tenancy,
    region,
    session: undefined,
    advice,
    privateKey: () => privateKey,
    keyId: () => `${tenancy}/${user}/${fingerprint}`,
  }
}

type Parts = {
  tenancy: string
  region: string
  profile?: string
  signer: { session: Session } | { user: string; fingerprint: string; privateKey: string }
}

const fromSettings = (creds: Exclude<OciSettings['creds'], { type: 'default' }>): Parts => {
  const { tenancy, region, pass_phrase: passPhrase } = creds
  const content = creds.key_content ?? readText(creds.key_file ?? '', 'The file of creds.key_file')
  const privateKey = unlocked(content, passPhrase, 'The private key in creds')
  if (creds.type === 'session')
    return { tenancy, region, signer: { session: { token: creds.security_token.trim(), privateKey } } }
  return { tenancy, region, signer: { user: creds.user, fingerprint: creds.fingerprint, privateKey } }
}

const fromProfile = ({ file, profile: name }: Extract<OciSettings['creds'], { type: 'default' }>): Parts => {
  const where = `the profile ${name} of ${file}`
  const profile = readProfile(readText(file, `The OCI config file ${file}`), name)
  if (!profile)
    throw bad(
      `${file} has no profile ${name}. Run "oci session authenticate --profile-name ${name}", or correct it`,
    )
  const get = (key: string): string => {
    const value = profile.get(key)
    if (value !== undefined) return value
    throw bad(`There is no ${key} in ${where}. Run "oci session authenticate" or "oci setup config"`)
  }
  const read = (key: string) =>
    readText(resolve(dirname(inHome(file)), inHome(get(key))), `The ${key} of ${where}`)
  const privateKey = () => unlocked(read('key_file'), profile.get('pass_phrase'), `The key_file of ${where}`)
  const account = { tenancy: get('tenancy'), region: get('region'), profile: name }
  // A profile takes over what DEFAULT has, so only a user of its own makes it one with an API key.
  if (profile.sets('user') || profile.get('security_token_file') === undefined)
    return {
      ...account,
      signer: { user: get('user'), fingerprint: get('fingerprint'), privateKey: privateKey() },
    }
  const reread = () => ({ token: read('security_token_file').trim(), privateKey: privateKey() })
  return { ...account, signer: { session: { ...reread(), reread } } }
}

const inHome = (path: string) => path.replace(/^~(?=[/\\])/, () => homedir())

const readText = (path: string, what: string): string => {
  try {
    return readFileSync(inHome(path), 'utf8')
  } catch (error) {
    throw bad(`${what} can't be read: ${messageOf(error)}`)
  }
}

/** Oracle's own reader ends the process over a wrong pass phrase, so it is given keys without one. */
const unlocked = (pem: string, passphrase: string | undefined, what: string): string => {
  try {
    const key = createPrivateKey({ key: pem, ...(passphrase !== undefined && { passphrase }) })
    if (key.asymmetricKeyType === 'rsa') return key.export({ type: 'pkcs8', format: 'pem' }).toString()
  } catch {
    // The reason may repeat a part of the key.
    throw bad(`${what} is no private key in PEM, or its pass_phrase is not right`)
  }
  throw bad(`${what} is no RSA key, and OCI takes no other. Make one with "oci setup keys"`)
}

/** dstack takes a region's key (`FRA`) too. */
const regionOf = (written: string, { common }: Sdk): string =>
  common.Region.values().find(({ regionCode }) => regionCode === written.toLowerCase())?.regionId ?? written

const bad = (message: string) => new OciFailure(failed(401, 'NotAuthenticated', message))
