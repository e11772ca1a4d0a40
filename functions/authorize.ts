import type { APIGatewayRequestAuthorizerEventV2 } from 'aws-lambda'
import { createAuthorizer } from '../lib/http/authorize.ts'
import { lambdaHandler } from '../lib/lambda-handler.ts'
import { lambdaTableContext, type TableContext } from '../lib/lambda-table-context.ts'

export const createHandler = (context: () => Promise<TableContext>) => {
  let authorizer: ReturnType<typeof createAuthorizer> | undefined
  return async ({ headers }: Pick<APIGatewayRequestAuthorizerEventV2, 'headers'>) => {
    authorizer ??= createAuthorizer(await context())
    return authorizer(headers?.authorization)
  }
}

export const handler = lambdaHandler(createHandler(lambdaTableContext))
