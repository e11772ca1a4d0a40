import type { Context } from '../lib/context.ts'
import { lambdaContext } from '../lib/lambda-context.ts'
import { lambdaHandler } from '../lib/lambda-handler.ts'
import { reconcile } from '../lib/lifecycle/reconcile.ts'

export const createHandler = (context: () => Promise<Context>) => async () => reconcile(await context())

export const handler = lambdaHandler(createHandler(lambdaContext))
