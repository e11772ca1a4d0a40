import type { IncomingMessage } from 'node:http'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'

export type ApiEvent = APIGatewayProxyEventV2 & { requestContext: { authorizer: { lambda: object } } }

/** A request in the form in which API Gateway hands it to a function (payload 2.0). */
export const apiEvent = (request: IncomingMessage, url: URL, body: string, lambda: object): ApiEvent => {
  const method = request.method ?? 'GET'
  const now = new Date()
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: url.pathname,
    rawQueryString: url.search.slice(1),
    headers: Object.fromEntries(
      Object.entries(request.headers).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)]],
      ),
    ),
    ...(url.search.length > 1 && { queryStringParameters: queryOf(url.searchParams) }),
    requestContext: {
      accountId: 'local',
      apiId: 'local',
      authorizer: { lambda },
      domainName: 'localhost',
      domainPrefix: 'localhost',
      http: {
        method,
        path: url.pathname,
        protocol: 'HTTP/1.1',
        sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
        userAgent: request.headers['user-agent'] ?? '',
      },
      requestId: 'local',
      routeKey: '$default',
      stage: '$default',
      time: now.toISOString(),
      timeEpoch: now.getTime(),
    },
    ...(body !== '' && { body }),
    isBase64Encoded: false,
  }
}

/** API Gateway joins a parameter that is given more than once with commas. */
const queryOf = (parameters: URLSearchParams): Record<string, string> =>
  Object.fromEntries([...new Set(parameters.keys())].map((name) => [name, parameters.getAll(name).join(',')]))
