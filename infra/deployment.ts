import type { SSMClient } from '@aws-sdk/client-ssm'
import { messageOf } from '../lib/model/errors.ts'
import { type GivenSettings, prepareSecrets } from './first-deploy.ts'
import { ofStage, tableName } from './names.ts'
import type { run } from './run.ts'

type Parts = {
  ssm: SSMClient
  hasTable: (name: string) => Promise<boolean>
  run: typeof run
  say: (line: string) => void
}

/**
 * From whatever is there to a running Berth of this code: secrets where they are absent, packages, the stack. Nothing is
 * written before all that can be checked has been. Throws an Error that says what is done and what to do.
 */
export const deployTo = async (
  { ssm, hasTable, run, say }: Parts,
  { stage, region, given }: { stage: string; region: string; given: GivenSettings | undefined },
): Promise<void> => {
  const secrets = await prepareSecrets(ssm, { stage, given })
  run(process.execPath, ['infra/package.ts'])
  for (const line of await secrets.put()) say(line)
  const table = ofStage(tableName, stage)
  const wasThere = await hasTable(table)
  try {
    // Also when only the settings are new: functions that wait for requests go on with those they have read.
    run('osls', ['deploy', '--force', '--stage', stage, '--region', region])
  } catch (error) {
    const isLeft = !wasThere && (await hasTable(table))
    throw new Error(
      [
        messageOf(error),
        ...(given
          ? ['The new settings are in place: functions that start now read them, also old ones.']
          : []),
        isLeft ? inTheWay(table, region) : 'See docs/deploy.md, "When it fails".',
      ].join('\n'),
    )
  }
}

const inTheWay = (table: string, region: string): string =>
  `The table ${table} was made and stays, as tables of Berth do. If CloudFormation has taken the rest back, it is in the way
of the next try; nothing was ever rented with it. When the stack is gone or rolled back, and not before:
  aws dynamodb update-table --region ${region} --table-name ${table} --no-deletion-protection-enabled
  aws dynamodb delete-table --region ${region} --table-name ${table}`
