import type { Context } from '../lib/context.ts'
import { lambdaContext } from '../lib/lambda-context.ts'
import { lambdaHandler } from '../lib/lambda-handler.ts'
import { provision } from '../lib/lifecycle/provision.ts'
import { stepHandler } from '../lib/lifecycle/step-handler.ts'

export const createHandler = (context: () => Promise<Context>) => stepHandler(context, 'provision', provision)

export const handler = lambdaHandler(createHandler(lambdaContext))
