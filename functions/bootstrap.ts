import type { Context } from '../lib/context.ts'
import { lambdaContext } from '../lib/lambda-context.ts'
import { lambdaHandler } from '../lib/lambda-handler.ts'
import { bootstrap } from '../lib/lifecycle/bootstrap.ts'
import { stepHandler } from '../lib/lifecycle/step-handler.ts'

export const createHandler = (context: () => Promise<Context>) => stepHandler(context, 'bootstrap', bootstrap)

export const handler = lambdaHandler(createHandler(lambdaContext))
