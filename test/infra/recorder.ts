import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import * as z from 'zod'

const asked = z.object({
  QueueUrl: z.string().optional(),
  IndexName: z.string().optional(),
  TransactItems: z.array(z.record(z.string(), z.unknown())).default([]),
})

/**
 * Stands between functions and the local engines, and writes down who asked what, in the words of test/infra/
 * permissions.ts. A function says who it is in its user agent (AWS_SDK_UA_APP_ID), to which
 * Powertools adds its own.
 */
export const startRecorder = async (engines: { dynamo: string; sqs: string }) => {
  const calls: Record<string, Set<string>> = {}
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const [service, action = ''] = String(request.headers['x-amz-target']).split('.')
    const name = /\bapp\/(\S+?)(?:-PT-|\s|$)/.exec(String(request.headers['user-agent']))?.[1] ?? 'nobody'
    calls[name] ??= new Set()
    for (const each of permissions(service ?? '', action, body)) calls[name].add(each)
    const target = service === 'AmazonSQS' ? engines.sqs : engines.dynamo
    const { host, connection, 'content-length': length, ...headers } = request.headers
    const answer = await fetch(new URL(request.url ?? '/', target), {
      method: 'POST',
      headers: Object.entries(headers).map(([key, value]): [string, string] => [key, String(value)]),
      body: new Uint8Array(body),
    })
    const type = answer.headers.get('content-type') ?? 'application/json'
    response.writeHead(answer.status, { 'content-type': type })
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    url: `http://127.0.0.1:${port}`,
    callsOf: (name: string): string[] => [...(calls[name] ?? [])].sort(),
    callers: () => Object.keys(calls),
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const permissions = (service: string, action: string, body: Buffer): string[] => {
  const { QueueUrl, IndexName, TransactItems } = asked.parse(JSON.parse(body.toString()))
  if (service === 'AmazonSQS') return [`sqs:${action} ${QueueUrl?.replace(/^.*\/berth-/, '')}`]
  // AWS asks for the permission of each part of a transaction.
  if (action === 'TransactWriteItems') {
    return TransactItems.flatMap((item) => Object.keys(item).map((kind) => `dynamodb:${kind}Item table`))
  }
  return [`dynamodb:${action} table${IndexName === undefined ? '' : `/index/${IndexName}`}`]
}
