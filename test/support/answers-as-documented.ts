import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import * as z from 'zod'
import { openApiDocument } from '../../lib/http/openapi-document.ts'

/** What a function answers to API Gateway. */
export const answered = z
  .object({ statusCode: z.number(), headers: z.record(z.string(), z.string()), body: z.string() })
  .transform(({ statusCode, ...answer }) => ({ status: statusCode, ...answer }))
type Answered = z.infer<typeof answered>

const response = z.object({
  headers: z.record(z.string(), z.object({ required: z.boolean().default(false) })).default({}),
  content: z.record(z.string(), z.unknown()),
})
const operation = z.object({ responses: z.record(z.string(), response) })
const methods = ['get', 'put', 'post', 'delete', 'patch'] as const
const read = z.object({ paths: z.record(z.string(), z.partialRecord(z.enum(methods), operation)) })

/** What a path or a method that is not in the document may answer: nothing was done. */
const beside = new Set([
  'invalid_request',
  'unauthorized',
  'not_found',
  'method_not_allowed',
  'too_large',
  'too_many_requests',
])

/** Holds answers against a document. The check that it makes throws with what the answer has and may not have. */
export const createAnswerCheck = (document: string) => {
  const { paths } = read.parse(JSON.parse(document))
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema(JSON.parse(document), 'openapi')
  const compiled = new Map<string, ValidateFunction>()

  const errorsOf = (pointer: string, body: string): string[] => {
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi#${pointer}` })
    compiled.set(pointer, validate)
    validate(JSON.parse(body))
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  }

  const wrongs = (method: string, path: string, { status, headers, body }: Answered): string[] => {
    const type = headers['content-type'] ?? 'none'
    const template = Object.keys(paths).find((each) => isPath(each, path))
    const known = methods.find((each) => each === method.toLowerCase())
    const documented = template && known && paths[template]?.[known]
    if (!template || !documented) {
      if (status === 431) return errorsOf('/components/schemas/GatewayMessage', body)
      if (type !== 'application/problem+json') return [`content type ${type}`]
      const { code } = z.object({ code: z.string() }).parse(JSON.parse(body))
      const wrong = beside.has(code) ? [] : [`code ${code} where nothing is documented`]
      const silent = status === 405 && !('allow' in headers) ? ['header allow is missing'] : []
      return [...wrong, ...silent, ...errorsOf('/components/schemas/Problem', body)]
    }
    const answer = documented.responses[status]
    if (!answer) return [`status ${status} is not documented`]
    if (!(type in answer.content)) return [`content type ${type} is not documented for ${status}`]
    const missing = Object.entries(answer.headers).filter(
      ([name, { required }]) => required && !(name in headers),
    )
    const parts = ['paths', template, method.toLowerCase(), 'responses', status, 'content', type, 'schema']
    return [
      ...missing.map(([name]) => `header ${name} is missing`),
      ...errorsOf(parts.map((part) => `/${escaped(String(part))}`).join(''), body),
    ]
  }

  return (method: string, path: string, answered: Answered): void => {
    const found = wrongs(method, path.replace(/[?#].*$/, ''), answered)
    if (found.length === 0) return
    throw new Error(
      `${method} ${path} answered ${answered.status}, not as documented: ${found.join('; ')}\n${answered.body}`,
    )
  }
}

/** Throws when an answer is not what `/openapi.json` says of it. */
export const checkAnswer = createAnswerCheck(openApiDocument)

const isPath = (template: string, path: string): boolean =>
  new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`).test(path)

/** As a part of a JSON pointer in a URI fragment. */
const escaped = (part: string): string => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
