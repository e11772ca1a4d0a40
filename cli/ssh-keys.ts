import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { Failure } from './failure.ts'
import type { Surroundings } from './surroundings.ts'

/** `--ssh-key`, any number of times, or `--no-ssh-key`. */
export const sshKeyOption = z.union([z.array(z.string()), z.literal(false)]).optional()

/** What a request says of them, and where they come from. */
type SshKeys = { keys: string[] | undefined; from: string[] }

const none: SshKeys = { keys: undefined, from: [] }

/** Says which they are, or what there being none means. */
export const keyLine = (from: string[], otherwise: string): string =>
  from.length > 0 ? `SSH key: ${from.join(', ')}` : otherwise

/** OpenSSH's own names, in the order in which it tries them. */
const usualFiles = ['id_ed25519.pub', 'id_ecdsa.pub', 'id_ed25519_sk.pub', 'id_rsa.pub']

/**
 * The public keys that may enter what is rented, with where they come from: those that are given, as a file or as the
 * key itself, or else the one that ssh uses by itself; none for false. Throws a Failure for what is no public key.
 */
export const publicKeys = (
  at: Pick<Surroundings, 'folder' | 'home'>,
  given: string[] | false | undefined,
): SshKeys => {
  if (given === false) return none
  if (given !== undefined) {
    const read = given.map((each) => (isKey(each) ? { key: each, from: 'the command' } : fromFile(at, each)))
    return { keys: read.map(({ key }) => key), from: read.map(({ from }) => from) }
  }
  const usual = usualFiles.map((name) => join(at.home, '.ssh', name)).find((file) => existsSync(file))
  if (usual === undefined) return none
  const { key, from } = fromFile(at, usual)
  return { keys: [key], from: [from] }
}

const isKey = (text: string) => /^(ssh-|ecdsa-|sk-)\S+ /.test(text)

const fromFile = ({ folder, home }: Pick<Surroundings, 'folder' | 'home'>, name: string) => {
  const file = resolve(folder, name.replace(/^~(?=\/)/, home))
  if (!existsSync(file)) {
    throw new Failure(
      'wrongUsage',
      `error: --ssh-key: there is no file ${file}. Give a public key, or its file, such as ~/.ssh/id_ed25519.pub.`,
    )
  }
  const text = readFileSync(file, 'utf8').trim()
  if (isKey(text) && !text.includes('\n')) return { key: text, from: name }
  const what = text.includes('PRIVATE KEY')
    ? `${name} is a private key, which stays with you. Give ${name}.pub.`
    : `${name} does not hold one public key in OpenSSH's form.`
  throw new Failure('wrongUsage', `error: --ssh-key: ${what}`)
}
