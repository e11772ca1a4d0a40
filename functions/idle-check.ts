import { lambdaHandler } from '../lib/lambda-handler.ts'
import { lambdaTableContext, type TableContext } from '../lib/lambda-table-context.ts'
import { sweep } from '../lib/lifecycle/sweep.ts'

export const createHandler = (context: () => Promise<TableContext>) => async () => sweep(await context())

export const handler = lambdaHandler(createHandler(lambdaTableContext))
