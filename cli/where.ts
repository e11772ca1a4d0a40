import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { Failure } from './failure.ts'
import type { Surroundings } from './surroundings.ts'

/** The address of an API and the key to it. */
export type Access = { url: string; apiKey: string }

const places = z.object({ url: z.string().optional(), data: z.string().min(1).optional() })
/** What a header can carry. */
const apiKey = z.string().regex(/^[\x21-\x7e]+$/)
const clientFile = z.object({ url: z.string(), apiKey })

/** Finds the API, as `berth help access` says. Throws a Failure that names every way. */
export const findAccess = (at: Surroundings, options: unknown): Access => {
  const { url, data } = places.parse(options)
  if (url !== undefined && data !== undefined) {
    throw new Failure('wrongUsage', 'Give either --url or --data: each says where Berth is.')
  }
  if (data !== undefined) return fromFolder(resolve(at.folder, data))
  const files = [join(at.folder, '.berth', 'client.json'), profileFile(at)]
  const address = url ?? at.env.BERTH_URL
  if (address !== undefined && address !== '') return withKey(at, checkedUrl(address), files)
  for (const file of files) {
    const found = readClient(file)
    if (found) return found
  }
  const start = at.env.BERTH_API_KEY
    ? 'BERTH_API_KEY is set, but nothing says where Berth is.'
    : 'Nothing says where Berth is.'
  throw new Failure('failed', start, [
    'Either set BERTH_URL (or --url) and BERTH_API_KEY;',
    'or start one here, on simulated clouds: npm start; or name its folder: --data FOLDER;',
    `or write {"url": "https://...", "apiKey": "berth_..."} into ${profileFile(at)}`,
  ])
}

const profileFile = ({ env, home }: Pick<Surroundings, 'env' | 'home'>): string =>
  join(env.XDG_CONFIG_HOME || join(home, '.config'), 'berth', 'client.json')

const fromFolder = (folder: string): Access => {
  const found = readClient(join(folder, 'client.json'))
  if (found) return found
  throw new Failure('failed', `There is no client.json in ${folder}.`, [
    `Start Berth on it: npm start -- --data ${folder}`,
  ])
}

/** A key that stands beside an address goes to that address alone. */
const withKey = ({ env }: Surroundings, url: string, files: string[]): Access => {
  if (env.BERTH_API_KEY) return { url, apiKey: fromEnvironment(env.BERTH_API_KEY) }
  const known = files.map(readClient).find((found) => found?.url === url)
  if (known) return known
  throw new Failure('failed', `There is no key for ${url}. Set BERTH_API_KEY to one.`, [
    'Keys are made by "berth keys create", by somebody who has AWS credentials for the deployment.',
  ])
}

const fromEnvironment = (text: string): string => {
  const read = apiKey.safeParse(text.trim())
  if (read.success) return read.data
  // Which character it is would be a part of the key.
  throw new Failure(
    'wrongUsage',
    'BERTH_API_KEY is not an API key: it is one word of plain ASCII, without line breaks.',
    ['Nothing was sent. Keys are made by "berth keys create", and begin with "berth_".'],
  )
}

const readClient = (file: string): Access | undefined => {
  if (!existsSync(file)) return undefined
  const result = clientFile.safeParse(parsed(readFileSync(file, 'utf8')))
  if (result.success) return { ...result.data, url: checkedUrl(result.data.url) }
  throw new Failure('failed', `${file} cannot be read.`, [
    'It must hold {"url": "https://...", "apiKey": "berth_..."}, or be removed.',
  ])
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const ownMachine = /^(localhost|127(\.\d+){3}|\[::1\])$/

const checkedUrl = (text: string): string => {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Failure(
      'wrongUsage',
      `"${text}" is not an address; write for example https://berth.example.com`,
    )
  }
  if (url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new Failure(
      'wrongUsage',
      'The address of Berth has no user name, "?" or "#"; the key is BERTH_API_KEY.',
    )
  }
  if (url.protocol === 'http:' && !ownMachine.test(url.hostname)) {
    throw new Failure('wrongUsage', `The key would travel unencrypted to ${url.host}. Use https.`)
  }
  return url.href.replace(/\/+$/, '')
}
