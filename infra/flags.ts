import * as z from 'zod'
import { awsRegion } from '../lib/aws-region.ts'

/** Which deployment; the defaults are those of serverless.yml. */
export const deploymentFlags = {
  stage: z
    .string()
    .regex(/^[a-z0-9-]{1,20}$/, 'lower-case letters, digits and hyphens')
    .default('prod'),
  region: z
    .string()
    .regex(/^[a-z0-9-]+$/, 'a region of AWS, such as us-east-1')
    .default(awsRegion(process.env)),
}

export const deploymentUsage = `  --stage prod         the name of the deployment
  --region us-east-1   default: AWS_REGION, or else us-east-1

AWS credentials come from the environment (AWS_PROFILE, or what aws configure sso has set up).`
