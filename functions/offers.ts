import type { Context } from '../lib/context.ts'
import { httpHandler } from '../lib/http/http-handler.ts'
import { healthRoutes } from '../lib/http/routes-health.ts'
import { offerRoutes } from '../lib/http/routes-offers.ts'
import { lambdaContext } from '../lib/lambda-context.ts'
import { lambdaHandler } from '../lib/lambda-handler.ts'

export const createHandler = (context: () => Promise<Context>) =>
  httpHandler(context, [...offerRoutes, ...healthRoutes])

export const handler = lambdaHandler(createHandler(lambdaContext))
