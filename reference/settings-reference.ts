import * as z from 'zod'
import { settings } from '../lib/model/settings.ts'
import { fieldTable } from './field-table.ts'
import { type JsonSchema, jsonSchema, rowsOf } from './schema-rows.ts'
import { settingsWords } from './settings-words.ts'

/** Every setting in Markdown: names, types and defaults of the schema. Throws where words and schema do not fit. */
export const settingsReference = (): string => {
  const schema = jsonSchema.parse(z.toJSONSchema(settings, { io: 'input' }))
  const { backends, projects: _sameAsBackends, ...rest } = schema.properties ?? {}
  return [
    part('top', { ...schema, properties: rest }),
    ...variantsOf(backends?.items).flatMap(([type, backend]) => [
      `### \`type: ${type}\``,
      part(type, backend),
      ...variantsOf(backend.properties?.creds).flatMap(([kind, creds]) => [
        `\`creds\` of \`type: ${kind}\`:`,
        part(`${type} creds ${kind}`, creds),
      ]),
    ]),
  ].join('\n\n')
}

/** The forms of something that differ by their `type`. */
const variantsOf = (schema: JsonSchema | undefined): [type: string, variant: JsonSchema][] =>
  (schema?.oneOf ?? []).map((variant) => [String(variant.properties?.type?.const), variant])

const part = (name: string, schema: JsonSchema): string => {
  const words = settingsWords[name] ?? {}
  const rows = rowsOf(schema)
  const wordless = rows.filter(({ path }) => words[path] === undefined).map(({ path }) => path)
  const gone = Object.keys(words).filter((path) => rows.every((row) => row.path !== path))
  if (wordless.length > 0) throw new Error(`say in settings-words.ts what these are: ${wordless} (${name})`)
  if (gone.length > 0) throw new Error(`there are no such settings any more: ${gone} (${name})`)
  return fieldTable(
    rows.map((row) => ({ ...row, description: words[row.path] })),
    { required: true },
  )
}
