import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Document, parseDocument } from 'yaml'
import * as z from 'zod'
import { messageOf } from '../lib/model/errors.ts'
import { Failure } from './failure.ts'

const fleetFile = z.looseObject({ type: z.unknown(), name: z.unknown().optional() })

/** A fleet file of dstack's, as it stands, with the name of the fleet. What is in it is judged by the API. */
export const readFleetFile = (
  folder: string,
  file: string,
  name: string | undefined,
): { name: string; body: object } => {
  const wrong = (message: string) => new Failure('wrongUsage', `error: ${file}: ${message}`)
  const document = parseDocument(textOf(folder, file))
  const [problem] = [...document.errors, ...document.warnings]
  if (problem?.code === 'MULTIPLE_DOCS') throw wrong('it holds several documents; give each fleet a file')
  if (problem) throw wrong(`not valid YAML: ${problem.message.split('\n')[0]}`)
  const read = fleetFile.safeParse(readDocument(document, wrong))
  if (!read.success) throw wrong('a fleet file holds keys and values, such as "type: fleet" and "nodes: 1"')
  if (read.data.type !== 'fleet') throw wrong('it has to say "type: fleet"')
  const named = name ?? read.data.name ?? undefined
  if (named === undefined)
    throw wrong('the fleet has no name; write "name: ..." into the file, or give --name')
  if (typeof named !== 'string') throw wrong('name: write a name such as amd-fleet, in quotes if need be')
  return { name: named, body: { ...read.data, name: named } }
}

/** The file as it reads. JSON has no word for some of what YAML can say, and would leave it out unseen. */
const readDocument = (document: Document.Parsed, wrong: (message: string) => Failure): unknown => {
  try {
    const value: unknown = document.toJS()
    JSON.stringify(value, (key, part) => {
      if (typeof part !== 'number' || Number.isFinite(part)) return part
      throw new RangeError(`${key}: ${part} is not a number that can be reckoned with`)
    })
    return value
  } catch (error) {
    // JSON's of what holds itself; the other errors are of aliases, and say so.
    throw wrong(error instanceof TypeError ? 'it refers to itself' : messageOf(error))
  }
}

const textOf = (folder: string, file: string): string => {
  try {
    return readFileSync(resolve(folder, file), 'utf8')
  } catch (error) {
    throw new Failure('wrongUsage', `error: --file: ${messageOf(error)}`)
  }
}
