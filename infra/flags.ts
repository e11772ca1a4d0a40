import * as z from 'zod'

/** Which deployment; the defaults are those of serverless.yml. */
export const deploymentFlags = {
  stage: z
    .string()
    .regex(/^[a-z0-9-]{1,20}$/, 'lower-case letters, digits and hyphens')
    .default('prod'),
  region: z
    .string()
    .regex(/^[a-z0-9-]+$/, 'a region of AWS, such as us-east-1')
    .default(process.env.AWS_REGION ?? 'us-east-1'),
}

export const deploymentUsage = `  --stage prod         the name of the deployment
  --region us-east-1   default: AWS_REGION

AWS credentials come from the environment (AWS_PROFILE, or what aws configure sso has set up).`
