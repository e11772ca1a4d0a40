import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { loadBackends } from './backends/index.ts'
import type { Context } from './context.ts'
import type { Settings } from './model/settings.ts'
import { randomHex } from './random-hex.ts'
import { lateShim } from './shim/late-shim.ts'
import { publicKeyOf } from './shim/public-key.ts'
import { createDynamoStore } from './store/dynamo-store.ts'

/** Joins the real parts into a context, the same on AWS and in the sandbox. */
export const wireContext = async (
  parts: Pick<Context, 'queues' | 'clock' | 'log'> & {
    settings: Settings
    /** How Berth enters its machines, in OpenSSH or PEM format. */
    privateKey: string
    dynamo: { client: DynamoDBDocumentClient; table: string }
  },
): Promise<Omit<Context, 'leaseMs'>> => {
  const { settings, privateKey, dynamo, queues, clock, log } = parts
  const random = { hex: randomHex }
  const createBackends = await loadBackends(settings.backends)
  const store = createDynamoStore({ ...dynamo, random })
  return {
    settings,
    store,
    queues,
    backends: createBackends({
      sshPublicKey: publicKeyOf(privateKey),
      userData: async () => (await import('./shim/bootstrap-script.ts')).bootstrapScript(settings.shim),
      catalogues: store.catalogues,
      clock,
    }),
    shim: lateShim({ privateKey, shim: settings.shim }),
    clock,
    random,
    log,
  }
}
