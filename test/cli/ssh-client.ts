#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import ssh2 from 'ssh2'

/**
 * Stands in for OpenSSH's client where a machine has none: real SSH, by the options that `berth ssh` gives, each of
 * which it must understand. A host key that is not the one in the known_hosts file is refused.
 */
const { values, positionals } = parseArgs({
  options: {
    o: { type: 'string', short: 'o', multiple: true, default: [] },
    i: { type: 'string', short: 'i' },
    p: { type: 'string', short: 'p' },
  },
  allowPositionals: true,
})
const known = [
  'UserKnownHostsFile',
  'GlobalKnownHostsFile',
  'HostKeyAlias',
  'HostKeyAlgorithms',
  'StrictHostKeyChecking',
  'UpdateHostKeys',
  'ControlPath',
]
const options = new Map(
  values.o.map((each): [string, string] => [each.split('=')[0] ?? '', each.replace(/^[^=]*=/, '')]),
)
for (const name of options.keys()) if (!known.includes(name)) throw new Error(`unknown option ${name}`)
if (options.get('StrictHostKeyChecking') !== 'yes') throw new Error('host keys must be checked')

const [target = '', ...command] = positionals
const [username, host] = target.split('@')
const lines = readFileSync(options.get('UserKnownHostsFile') ?? '', 'utf8')
  .trim()
  .split('\n')
const pinned = lines.map((line) => line.split(' ')).filter(([name]) => name === options.get('HostKeyAlias'))

const client = new ssh2.Client()
client.on('error', (error) => {
  console.error(error.message)
  process.exit(255)
})
client.on('ready', () => {
  client.exec(command.join(' '), (error, channel) => {
    if (error) throw error
    channel.pipe(process.stdout)
    channel.stderr.pipe(process.stderr)
    channel.on('exit', (code: number | null) => {
      process.exitCode = code ?? 255
    })
    channel.on('close', () => client.end())
  })
})
client.connect({
  host,
  port: Number(values.p),
  username,
  privateKey: readFileSync(values.i ?? join(homedir(), '.ssh', 'id_ed25519'), 'utf8'),
  hostVerifier: (key: Buffer) => pinned.some(([, , blob]) => blob === key.toString('base64')),
})
