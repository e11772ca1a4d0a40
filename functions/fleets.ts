import type { Context } from '../lib/context.ts'
import { httpHandler } from '../lib/http/http-handler.ts'
import { fleetRoutes } from '../lib/http/routes-fleets.ts'
import { lambdaContext } from '../lib/lambda-context.ts'
import { lambdaHandler } from '../lib/lambda-handler.ts'

export const createHandler = (context: () => Promise<Context>) => httpHandler(context, fleetRoutes)

export const handler = lambdaHandler(createHandler(lambdaContext))
