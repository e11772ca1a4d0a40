import type { Context } from '../lib/context.ts'
import { lambdaContext } from '../lib/lambda-context.ts'
import { lambdaHandler } from '../lib/lambda-handler.ts'
import { refreshCatalog } from '../lib/lifecycle/refresh-catalog.ts'

export const createHandler = (context: () => Promise<Context>) => async () => refreshCatalog(await context())

export const handler = lambdaHandler(createHandler(lambdaContext))
