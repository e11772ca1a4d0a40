import type { Context } from '../lib/context.ts'
import { httpHandler } from '../lib/http/http-handler.ts'
import { claimRoutes } from '../lib/http/routes-claims.ts'
import { costRoutes } from '../lib/http/routes-costs.ts'
import { instanceRoutes } from '../lib/http/routes-instances.ts'
import { lambdaContext } from '../lib/lambda-context.ts'
import { lambdaHandler } from '../lib/lambda-handler.ts'

export const createHandler = (context: () => Promise<Context>) =>
  httpHandler(context, [...instanceRoutes, ...claimRoutes, ...costRoutes])

export const handler = lambdaHandler(createHandler(lambdaContext))
