/** Filled in by osls; `${AWS::…}` is, by CloudFormation. */
export const stage = `\${sls:stage}`

export const tableName = `berth-${stage}`

/** What osls makes of a name for one stage, for what is asked of AWS beside it. */
export const ofStage = (name: string, actual: string): string => name.replace(stage, actual)

export const inStage = (name: string): string => `berth-${stage}-${name}`

/** `dead-letters` -> `DeadLetters` */
export const logical = (name: string): string =>
  name
    .split('-')
    .map((part) => `${part.slice(0, 1).toUpperCase()}${part.slice(1)}`)
    .join('')

export const ref = (id: string) => ({ Ref: id })
export const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] })
export const arn = (service: string, resource: string) => ({
  'Fn::Sub': `arn:\${AWS::Partition}:${service}:\${AWS::Region}:\${AWS::AccountId}:${resource}`,
})
