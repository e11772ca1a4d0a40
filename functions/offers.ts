import type { Context } from '../lib/context.ts'
import { httpHandler } from '../lib/http/http-handler.ts'
import { healthRoutes } from '../lib/http/routes-health.ts'
import { offerRoutes } from '../lib/http/routes-offers.ts'
import { openApiRoutes } from '../lib/http/routes-openapi.ts'
import { lambdaContext } from '../lib/lambda-context.ts'
import { lambdaHandler } from '../lib/lambda-handler.ts'

export const createHandler = (context: () => Promise<Context>) =>
  httpHandler(context, [...offerRoutes, ...healthRoutes, ...openApiRoutes(document)])

/** Made where the code runs from its sources; the bundle has it as a text (infra/bundle.ts). */
const document = async (): Promise<string> =>
  (await import('../lib/http/openapi-document.ts')).openApiDocument

export const handler = lambdaHandler(createHandler(lambdaContext))
