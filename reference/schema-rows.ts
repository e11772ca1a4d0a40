import * as z from 'zod'

/** As much of JSON Schema as the schemas of Berth come to. */
export type JsonSchema = z.infer<typeof base> & {
  properties?: Record<string, JsonSchema> | undefined
  additionalProperties?: boolean | JsonSchema | undefined
  items?: JsonSchema | undefined
  anyOf?: JsonSchema[] | undefined
  oneOf?: JsonSchema[] | undefined
  allOf?: JsonSchema[] | undefined
}
const base = z.object({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  default: z.unknown().optional(),
  description: z.string().optional(),
  examples: z.array(z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
})
export const jsonSchema: z.ZodType<JsonSchema> = base.extend({
  properties: z.lazy(() => z.record(z.string(), jsonSchema)).optional(),
  additionalProperties: z.lazy(() => z.union([z.boolean(), jsonSchema])).optional(),
  items: z.lazy(() => jsonSchema).optional(),
  anyOf: z.lazy(() => z.array(jsonSchema)).optional(),
  oneOf: z.lazy(() => z.array(jsonSchema)).optional(),
  allOf: z.lazy(() => z.array(jsonSchema)).optional(),
})

export type Row = {
  /** `limits.max_instances`; `[]` stands for each of a list. */
  path: string
  type: string
  isRequired: boolean
  default?: unknown
  description?: string | undefined
  examples: unknown[]
}

/** Every field below a schema, objects within objects too. A reference to another schema is one field. */
export const rowsOf = (schema: JsonSchema, prefix = ''): Row[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`
    const inner = innerOf(field)
    const row: Row = {
      path,
      type: typeOf(field),
      isRequired: (schema.required ?? []).includes(name) && field.default === undefined,
      // What stands in for a part that is left out is the defaults of its fields.
      ...(field.default !== undefined && !inner && { default: field.default }),
      description: field.description,
      examples: field.examples ?? [],
    }
    return inner ? [row, ...rowsOf(inner.schema, `${path}${inner.suffix}.`)] : [row]
  })

const innerOf = (field: JsonSchema): { schema: JsonSchema; suffix: string } | undefined => {
  if (field.properties) return { schema: field, suffix: '' }
  if (field.items?.properties) return { schema: field.items, suffix: '[]' }
  const [only, ...others] = alternatives(field).filter(({ type }) => type !== 'null')
  return only && others.length === 0 && only !== field ? innerOf(only) : undefined
}

const alternatives = (field: JsonSchema): JsonSchema[] => field.anyOf ?? field.oneOf ?? []

const typeOf = (field: JsonSchema): string => {
  if (field.$ref) return linkTo(field.$ref)
  if (field.const !== undefined) return code(field.const)
  if (field.enum) return field.enum.map(code).join(', ')
  const several = alternatives(field)
  if (several.length > 0) return [...new Set(several.map(typeOf))].join(' or ')
  if (Array.isArray(field.type)) return field.type.join(' or ')
  if (field.type === 'array') return `list of ${field.items ? typeOf(field.items) : 'anything'}`
  if (field.type === 'integer' || field.type === 'number') return `${field.type}${boundsOf(field)}`
  const values = field.additionalProperties
  if (field.type === 'object' && typeof values === 'object' && !field.properties)
    return `object of ${typeOf(values)}`
  return field.format === 'date-time' ? 'time' : (field.type ?? 'anything')
}

/** JavaScript's own bounds say nothing. */
const boundsOf = ({ minimum, maximum, exclusiveMinimum }: JsonSchema): string => {
  if (exclusiveMinimum !== undefined) return ` above ${exclusiveMinimum}`
  const low = minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? minimum : undefined
  const high = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? maximum : undefined
  if (low === undefined && high === undefined) return ''
  return high === undefined ? ` from ${low}` : ` ${low ?? ''} to ${high}`
}

const linkTo = (ref: string): string => {
  const name = ref.split('/').at(-1) ?? ref
  return `[${name}](#${name.toLowerCase()})`
}

/** A value as it is typed. */
export const code = (value: unknown): string =>
  `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
