import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import * as z from 'zod'

/** Source: the API reference of AWS Systems Manager, GetParameters and PutParameter. */
const name = z.string().regex(/^(\/[\w.-]+){1,15}$/)
const getParameters = z.strictObject({
  Names: z.array(name).min(1).max(10),
  WithDecryption: z.boolean().optional(),
})
const putParameter = z.strictObject({
  Name: name,
  Value: z.string().min(1),
  Type: z.literal('SecureString'),
  Overwrite: z.boolean().default(false),
  Tier: z.enum(['Standard', 'Advanced', 'Intelligent-Tiering']).default('Standard'),
})

class Refused extends Error {
  readonly type: string
  constructor(type: string, message: string) {
    super(message)
    this.type = type
  }
}

/** Parameter Store over AWS JSON 1.1, for what Berth asks of it; anything else is refused. */
export const startFakeSsm = async () => {
  const kept = new Map<string, { value: string; version: number }>()
  const calls: string[] = []
  const decrypted: string[] = []

  const answers: Record<string, (body: unknown) => object> = {
    GetParameters: (body) => {
      const { Names, WithDecryption } = getParameters.parse(body)
      if (new Set(Names).size < Names.length) throw new Refused('ValidationException', 'a name stands twice')
      if (WithDecryption) decrypted.push(...Names)
      const found = Names.flatMap((each) => {
        const parameter = kept.get(each)
        const Value = WithDecryption ? parameter?.value : 'AQICAHencrypted'
        return parameter ? [{ Name: each, Type: 'SecureString', Value, Version: parameter.version }] : []
      })
      return { Parameters: found, InvalidParameters: Names.filter((each) => !kept.has(each)) }
    },
    PutParameter: (body) => {
      const { Name, Value, Overwrite, Tier } = putParameter.parse(body)
      const before = kept.get(Name)
      if (before && !Overwrite) throw new Refused('ParameterAlreadyExists', 'The parameter already exists.')
      if (Buffer.byteLength(Value) > (Tier === 'Standard' ? 4096 : 8192)) {
        throw new Refused('ValidationException', 'Standard tier parameters support values of up to 4096')
      }
      const version = (before?.version ?? 0) + 1
      kept.set(Name, { value: Value, version })
      return { Version: version, Tier: 'Standard' }
    },
  }

  const server = createServer(async (request, response) => {
    const [service, action = ''] = String(request.headers['x-amz-target']).split('.')
    calls.push(action)
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' })
      response.end(JSON.stringify(body))
    }
    try {
      const body = await text(request)
      const signed = /^AWS4-HMAC-SHA256 Credential=local\/\d{8}\/us-east-1\/ssm\/aws4_request, /
      if (!signed.test(request.headers.authorization ?? ''))
        throw new Refused('AccessDeniedException', 'not signed')
      const known = request.method === 'POST' && request.url === '/' && service === 'AmazonSSM'
      const type = request.headers['content-type'] === 'application/x-amz-json-1.1'
      if (!known || !type || !answers[action]) throw new Refused('UnknownOperationException', action)
      answer(200, answers[action](JSON.parse(body)))
    } catch (error) {
      const __type = error instanceof Refused ? error.type : 'ValidationException'
      answer(400, { __type, message: error instanceof Error ? error.message : '' })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    url: `http://127.0.0.1:${port}`,
    /** What is kept, by name. */
    values: (): Record<string, string> =>
      Object.fromEntries([...kept].map(([each, { value }]) => [each, value])),
    put: (Name: string, value: string) => void kept.set(Name, { value, version: 1 }),
    remove: (Name: string) => void kept.delete(Name),
    /** The actions that were asked for, in their order. */
    calls: () => calls,
    /** The names of the parameters whose values were asked for. */
    decrypted: () => decrypted,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
