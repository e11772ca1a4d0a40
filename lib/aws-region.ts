/** The region of AWS in which a deployment is looked for when none is named: one rule for all commands. */
export const awsRegion = (env: Record<string, string | undefined>): string => env.AWS_REGION || 'us-east-1'
