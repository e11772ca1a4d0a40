const aws = 'needs an AWS account'
const ownTest = 'is run by'

/** Commands of the docs that this test does not run, each with why not, or with what runs it. */
export const notRunHere: [command: RegExp, because: string][] = [
  [/^npm ci/, `${ownTest} .ci/run, and its demo by test/e2e/demo.test.ts`],
  [/^npm test$/, `${ownTest} .ci/run`],
  [/^npm run demo/, `${ownTest} test/e2e/demo.test.ts`],
  [/^npm run package/, `${ownTest} .ci/run, within npm run check:template`],
  [/^npm run fuzz/, `${ownTest} .ci/run, with fewer requests, since they take 13 minutes`],
  [/^npm run simulate/, `${ownTest} test/simulation/simulation.test.ts, as far as it does not take hours`],
  [/^npx openapi-typescript/, 'comes from the registry when it is called'],
  [
    /^npm run (deploy|remove)/,
    `${aws}; ${ownTest} test/infra/deploy-and-remove.test.ts as far as it does not`,
  ],
  [/^aws /, aws],
  [/^export AWS_PROFILE/, aws],
  [/--table berth-prod/, `${aws}; ${ownTest} test/cli/keys.test.ts against a local table`],
  [/^git /, 'is about the repository of whoever deploys'],
  [/^oci session authenticate/, 'needs a tenancy of OCI, and a browser'],
  [/berth completion zsh/, 'needs zsh'],
]

/** Parts of pages in which a deployment is meant, whose address and key are not known. */
export const deployments: Record<string, RegExp> = {
  'docs/deploy.md': /^(URL=|berth\b)/,
}
