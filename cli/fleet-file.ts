import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseDocument } from 'yaml'
import * as z from 'zod'
import { messageOf } from '../lib/model/errors.ts'
import { Failure } from './failure.ts'

const fleetFile = z.looseObject({ type: z.unknown(), name: z.string().optional() })

/** A fleet file of dstack's, as it stands, with the name of the fleet. What is in it is judged by the API. */
export const readFleetFile = (
  folder: string,
  file: string,
  name: string | undefined,
): { name: string; body: object } => {
  const wrong = (message: string) => new Failure('wrongUsage', `error: ${file}: ${message}`)
  const document = parseDocument(textOf(folder, file))
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) throw wrong(`not valid YAML: ${problem.message.split('\n')[0]}`)
  const read = fleetFile.safeParse(document.toJS())
  if (!read.success) throw wrong('a fleet file holds keys and values, such as "type: fleet" and "nodes: 1"')
  if (read.data.type !== 'fleet') throw wrong('it has to say "type: fleet"')
  const named = name ?? read.data.name
  if (named === undefined)
    throw wrong('the fleet has no name; write "name: ..." into the file, or give --name')
  return { name: named, body: { ...read.data, name: named } }
}

const textOf = (folder: string, file: string): string => {
  try {
    return readFileSync(resolve(folder, file), 'utf8')
  } catch (error) {
    throw new Failure('wrongUsage', `error: --file: ${messageOf(error)}`)
  }
}
