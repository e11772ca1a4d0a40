import { lambdaTableContext, type TableContext } from '../lib/lambda-table-context.ts'
import { keepFleets } from '../lib/lifecycle/keep-fleets.ts'
import { sweep } from '../lib/lifecycle/sweep.ts'

export const createHandler = (context: () => Promise<TableContext>) => async () => {
  const ctx = await context()
  // First what exists, then what is missing.
  const swept = await sweep(ctx)
  return { ...swept, ...(await keepFleets(ctx)) }
}

export const handler = createHandler(lambdaTableContext)
