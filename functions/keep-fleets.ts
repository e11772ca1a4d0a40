import type { Context } from '../lib/context.ts'
import { lambdaContext } from '../lib/lambda-context.ts'
import { lambdaHandler } from '../lib/lambda-handler.ts'
import { keepFleets } from '../lib/lifecycle/keep-fleets.ts'

export const createHandler = (context: () => Promise<Context>) => async () => keepFleets(await context())

export const handler = lambdaHandler(createHandler(lambdaContext))
