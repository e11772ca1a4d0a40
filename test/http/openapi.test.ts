import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { lambdaFunctions } from '../../infra/functions.ts'
import type { InstanceAnswer } from '../../lib/http/answers.ts'
import { anInstance, anOffer } from '../../lib/http/examples.ts'
import { openApiDocument } from '../../lib/http/openapi-document.ts'
import { json, problem } from '../../lib/http/problem.ts'
import { BerthError } from '../../lib/model/errors.ts'
import { createRequest } from '../../lib/model/request.ts'
import { checkAnswer, createAnswerCheck } from '../support/answers-as-documented.ts'

const examples = z.record(z.string(), z.object({ value: z.unknown() })).default({})
const content = z.record(z.string(), z.object({ examples }))
const operation = z.object({
  operationId: z.string(),
  summary: z.string(),
  description: z.string(),
  security: z.array(z.unknown()).optional(),
  requestBody: z.object({ content }).optional(),
  responses: z.record(z.string(), z.object({ content })),
})
const document = z
  .object({ openapi: z.string(), paths: z.record(z.string(), z.record(z.string(), operation)) })
  .parse(JSON.parse(openApiDocument))
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, about]) => ({ method: method.toUpperCase(), path, ...about })),
)

describe('the document', () => {
  test('is OpenAPI 3.1, and has every route that is deployed and no other', () => {
    const deployed = lambdaFunctions.flatMap(({ trigger }) =>
      trigger.by === 'http' ? [...trigger.routes, ...(trigger.open ?? [])] : [],
    )
    expect(document.openapi).toBe('3.1.0')
    expect(operations.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(deployed.sort())
  })

  test('says for each route that is deployed open, and for no other, that it needs no key', () => {
    const open = lambdaFunctions.flatMap(({ trigger }) => (trigger.by === 'http' ? (trigger.open ?? []) : []))
    const without = operations.filter(({ security }) => security?.length === 0)
    expect(without.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(open.sort())
  })

  test('has an operationId of its own for each', () => {
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
  })

  test.each(operations)('shows of $method $path only answers that it allows', (about) => {
    const body = { status: 200, headers: { 'content-type': 'application/json', location: '/' } }
    const shown = Object.entries(about.responses).flatMap(([status, response]) =>
      Object.values(response.content['application/json']?.examples ?? {}).map(({ value }) => ({
        ...body,
        status: Number(status),
        body: JSON.stringify(value),
      })),
    )
    expect(shown).not.toEqual([])
    for (const answer of shown) checkAnswer(about.method, about.path.replace('{id}', 'i-1'), answer)
  })

  test('shows bodies of POST /instances that are taken', () => {
    const [create] = operations.filter(({ operationId }) => operationId === 'createInstance')
    const shown = Object.values(create?.requestBody?.content['application/json']?.examples ?? {})
    expect(shown.length).toBeGreaterThan(0)
    for (const { value } of shown) expect(createRequest.safeParse(value).error).toBeUndefined()
  })
})

/** What every test of the API is held against must be able to fail. */
describe('an answer that is not documented is found', () => {
  const path = '/instances/i-5f2c81d0a3b4'
  const withEvents = { ...anInstance, events: [] }
  const answer = (body: object, status = 200, type = 'application/json') => ({
    status,
    headers: { 'content-type': type },
    body: JSON.stringify(body),
  })
  const told = (code: 'not_found' | 'not_claimed' | 'method_not_allowed') => {
    const { statusCode, ...rest } = problem(new BerthError(code, 'Nothing was done.'))
    return { status: statusCode, ...rest }
  }

  test.each([
    ['a status', 'GET', path, answer(withEvents, 201), 'status 201 is not documented'],
    ['a content type', 'GET', path, answer(withEvents, 200, 'text/html'), 'content type text/html'],
    ['a field too many', 'GET', path, answer({ ...withEvents, owner: 'alice' }), '"owner"'],
    [
      'a field too many deep inside',
      'GET',
      '/offers',
      answer({ offers: [{ ...anOffer, resources: { ...anOffer.resources, fans: 8 } }], errors: [] }),
      '"fans"',
    ],
    ['a field that is missing', 'GET', path, answer(anInstance), '"events"'],
    ['a time that is none', 'GET', path, answer({ ...withEvents, createdAt: 'yesterday' }), '/createdAt'],
    ['money in words', 'GET', path, answer({ ...withEvents, accruedCost: '$3' }), '/accruedCost'],
    ['a status in words of its own', 'GET', path, answer({ ...withEvents, status: 'gone' }), '/status'],
    ['a header that is missing', 'POST', '/instances', answer(anInstance, 202), 'header location is missing'],
    ['the problem of another route', 'GET', path, told('not_claimed'), 'status 409 is not documented'],
    ['an answer of a path that is not there', 'GET', '/nothing', answer({}), 'content type'],
    ['a page for a path that is not there', 'GET', '/nothing', answer({}, 404, 'text/html'), 'content type'],
    ['a method refused without those that are known', 'PUT', path, told('method_not_allowed'), 'allow'],
    ['a wrong problem beside all paths', 'GET', '/nothing', told('not_claimed'), 'code not_claimed'],
  ])('%s', (_, method, path, answer, said) => {
    expect(() => checkAnswer(method, path, answer)).toThrow(said)
  })

  test('and one that is documented passes', () => {
    checkAnswer('GET', `${path}?verbose=1`, answer(withEvents))
    checkAnswer('GET', path, told('not_found'))
    checkAnswer('GET', '/nothing', told('not_found'))
    const refused = told('method_not_allowed')
    checkAnswer('PUT', path, { ...refused, headers: { ...refused.headers, allow: 'GET, DELETE' } })
  })

  test('a route that the document has forgotten', () => {
    const { '/offers': _, ...paths } = JSON.parse(openApiDocument).paths
    const check = createAnswerCheck(JSON.stringify({ ...JSON.parse(openApiDocument), paths }))
    expect(() => check('GET', '/offers', answer({ offers: [], errors: [] }))).toThrow('content type')
  })
})

test('a view that forgets a field, or adds one, does not compile', () => {
  const { name: _, ...nameless } = anInstance
  // @ts-expect-error: the type is that of the document's schema.
  json<InstanceAnswer>(200, nameless)
  // @ts-expect-error: here, too.
  json<InstanceAnswer>(200, { ...anInstance, owner: 'alice' })
  // @ts-expect-error: an answer without a type is none.
  json(200, { status: 'ok' })
  expect(json<InstanceAnswer>(200, anInstance).statusCode).toBe(200)
})
