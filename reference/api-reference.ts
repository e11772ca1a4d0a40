import * as z from 'zod'
import { fieldTable, table } from './field-table.ts'
import { type JsonSchema, jsonSchema, type Row, rowsOf } from './schema-rows.ts'

const content = z.record(z.string(), z.object({ schema: jsonSchema }))
const operation = z.object({
  summary: z.string(),
  description: z.string(),
  security: z.array(z.unknown()).optional(),
  parameters: z
    .array(
      z.object({
        name: z.string(),
        in: z.string(),
        required: z.boolean().optional(),
        description: z.string().optional(),
        schema: jsonSchema,
      }),
    )
    .default([]),
  requestBody: z.object({ content }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string(), content: content.optional() })),
})
const openApi = z.object({
  info: z.object({ description: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({ schemas: z.record(z.string(), jsonSchema) }),
})

/** The API in Markdown, of its OpenAPI document. */
export const apiReference = (document: unknown): string => {
  const { info, paths, components } = openApi.parse(document)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, about]) => ({ title: `${method.toUpperCase()} ${path}`, about })),
  )
  const schemas = Object.entries(components.schemas).sort(([a], [b]) => (a < b ? -1 : 1))
  return `${[
    '# API reference',
    'Made of `GET /openapi.json` by `npm run reference`. [using.md](using.md) tells the same as a story.',
    info.description,
    table([
      ['Request', ''],
      ...operations.map(({ title, about }) => [`[${title}](#${anchorOf(title)})`, about.summary]),
    ]),
    ...operations.flatMap(({ title, about }) => operationPart(title, about)),
    '## Schemas',
    ...schemas.flatMap(([name, schema]) => schemaPart(name, schema)),
  ].join('\n\n')}\n`
}

const operationPart = (title: string, about: z.infer<typeof operation>): string[] => {
  const places = ['path', 'query', 'header'] as const
  const bodySchema = about.requestBody?.content['application/json']?.schema
  return [
    `## ${title}`,
    about.description,
    ...(about.security?.length === 0 ? ['Anybody may ask, without a key.'] : []),
    ...places.flatMap((place) => {
      const rows = about.parameters.filter((parameter) => parameter.in === place).map(parameterRow)
      return rows.length > 0 ? [`In the ${place}:`, fieldTable(rows)] : []
    }),
    ...(bodySchema ? ['In the body:', ...bodyPart(bodySchema)] : []),
    'Answers:',
    table([
      ['Status', 'Answer', ''],
      ...Object.entries(about.responses).map(([status, { description, content }]) => [
        status,
        [...new Set(Object.values(content ?? {}).map(({ schema }) => nameOf(schema)))]
          .filter(Boolean)
          .join(', '),
        description,
      ]),
    ]),
  ]
}

const parameterRow = (parameter: z.infer<typeof operation>['parameters'][number]): Row => {
  const [row] = rowsOf({ properties: { [parameter.name]: parameter.schema } })
  if (!row) throw new Error(`${parameter.name} has no schema`)
  return {
    ...row,
    isRequired: parameter.required ?? false,
    description: parameter.description ?? row.description,
  }
}

const bodyPart = (schema: JsonSchema): string[] =>
  schema.properties ? [fieldTable(rowsOf(schema))] : [nameOf(schema)]

const schemaPart = (name: string, schema: JsonSchema): string[] => {
  const [whole] = rowsOf({ properties: { [name]: schema } })
  const rows = rowsOf(schema)
  return [
    `### ${name}`,
    ...(schema.description ? [schema.description] : []),
    ...(rows.length > 0 ? [fieldTable(rows)] : [`${whole?.type}.`]),
  ]
}

const nameOf = (schema: JsonSchema): string => {
  const ref = schema.$ref ?? schema.allOf?.find(({ $ref }) => $ref)?.$ref
  const name = ref?.split('/').at(-1)
  return name === undefined ? '' : `[${name}](#${name.toLowerCase()})`
}

/** As GitHub makes anchors of headings. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9_ -]/g, '')
    .replaceAll(' ', '-')
