import type { Context } from '../lib/context.ts'
import { lambdaContext } from '../lib/lambda-context.ts'
import { lambdaHandler } from '../lib/lambda-handler.ts'
import { stepHandler } from '../lib/lifecycle/step-handler.ts'
import { terminate } from '../lib/lifecycle/terminate.ts'

export const createHandler = (context: () => Promise<Context>) => stepHandler(context, 'terminate', terminate)

export const handler = lambdaHandler(createHandler(lambdaContext))
