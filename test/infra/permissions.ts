import * as z from 'zod'
import type { Template } from './packaged.ts'

const reference = z.union([
  z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.literal('Arn')]) }),
  z.object({ 'Fn::Sub': z.string() }),
  z.literal('*'),
])
const role = z.object({
  ManagedPolicyArns: z.undefined().optional(),
  Policies: z.array(
    z.object({
      PolicyDocument: z.object({
        Statement: z.array(
          z.strictObject({
            Effect: z.literal('Allow'),
            Action: z.array(z.string()),
            Resource: z.array(reference),
          }),
        ),
      }),
    }),
  ),
})
const lambda = z.object({
  FunctionName: z.string(),
  Role: z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.literal('Arn')]) }),
})

/** Every function's short name, and the logical id of its role. */
export const rolesOf = ({ Resources }: Template): Record<string, string> =>
  Object.fromEntries(
    Object.values(Resources)
      .filter(({ Type }) => Type === 'AWS::Lambda::Function')
      .map(({ Properties }) => {
        const { FunctionName, Role } = lambda.parse(Properties)
        return [FunctionName.replace('berth-prod-', ''), Role['Fn::GetAtt'][0]]
      }),
  )

/** All that a function may do, `action resource` each: the table as `table`, queues by their short names. */
export const permissionsOf = (template: Template, name: string): string[] => {
  const { Policies } = role.parse(template.Resources[rolesOf(template)[name] ?? '']?.Properties)
  const statements = Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
  return statements
    .flatMap(({ Action, Resource }) =>
      Action.flatMap((action) => Resource.map((each) => `${action} ${nameOf(template, each)}`)),
    )
    .sort()
}

const nameOf = ({ Resources }: Template, to: z.infer<typeof reference>): string => {
  if (to === '*') return to
  if ('Fn::Sub' in to) {
    const here = `:\${AWS::Region}:\${AWS::AccountId}:`
    return to['Fn::Sub']
      .replace(/^arn:\$\{AWS::Partition\}:\w+/, '')
      .replace(here, '')
      .replace('table/berth-prod/', 'table/')
  }
  const { QueueName } = Resources[to['Fn::GetAtt'][0]]?.Properties ?? {}
  return typeof QueueName === 'string'
    ? QueueName.replace('berth-prod-', '')
    : to['Fn::GetAtt'][0].toLowerCase()
}
