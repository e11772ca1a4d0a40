import type { APIGatewayRequestAuthorizerEventV2 } from 'aws-lambda'
import type { Context } from '../lib/context.ts'
import { authorize } from '../lib/http/authorize.ts'
import { lambdaContext } from '../lib/lambda-context.ts'

export const createHandler =
  (context: () => Promise<Context>) =>
  async ({ headers }: Pick<APIGatewayRequestAuthorizerEventV2, 'headers'>) =>
    authorize(await context(), headers?.authorization)

export const handler = createHandler(lambdaContext)
