import type { APIGatewayRequestAuthorizerEventV2 } from 'aws-lambda'
import { authorize } from '../lib/http/authorize.ts'
import { lambdaTableContext, type TableContext } from '../lib/lambda-table-context.ts'

export const createHandler =
  (context: () => Promise<TableContext>) =>
  async ({ headers }: Pick<APIGatewayRequestAuthorizerEventV2, 'headers'>) =>
    authorize(await context(), headers?.authorization)

export const handler = createHandler(lambdaTableContext)
