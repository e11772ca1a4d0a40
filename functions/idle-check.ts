import type { Context } from '../lib/context.ts'
import { lambdaContext } from '../lib/lambda-context.ts'
import { sweep } from '../lib/lifecycle/sweep.ts'

export const createHandler = (context: () => Promise<Context>) => async () => sweep(await context())

export const handler = createHandler(lambdaContext)
