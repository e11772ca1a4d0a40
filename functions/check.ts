import type { Context } from '../lib/context.ts'
import { lambdaContext } from '../lib/lambda-context.ts'
import { lambdaHandler } from '../lib/lambda-handler.ts'
import { check } from '../lib/lifecycle/check.ts'
import { stepHandler } from '../lib/lifecycle/step-handler.ts'

export const createHandler = (context: () => Promise<Context>) => stepHandler(context, 'check', check)

export const handler = lambdaHandler(createHandler(lambdaContext))
