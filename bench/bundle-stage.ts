import { hashOf } from '../lib/http/authorize.ts'
import { newKeyPair } from '../lib/shim/key-pair.ts'
import { createDynamoClient } from '../lib/store/dynamo-client.ts'
import { createDynamoStore } from '../lib/store/dynamo-store.ts'
import { startSimulatedHotAisle } from '../sandbox/clouds/hotaisle/simulated-hot-aisle.ts'
import { startSimulatedOci } from '../sandbox/clouds/oci/simulated-oci.ts'
import { startDynamo } from '../sandbox/local/dynoxide.ts'
import { startQueues } from '../sandbox/local/queues.ts'
import { createMachinesInMemory } from '../test/fakes/machines-in-memory.ts'
import { countingRandom } from '../test/support/counting-random.ts'

export const apiKey = 'berth_a_key_for_the_start_of_functions'

/** Local engines and both clouds, and the environment by which a bundled function finds them. */
export const startBundleStage = async () => {
  const clock = { now: () => Date.now() }
  const dynamo = await startDynamo({})
  const queues = await startQueues({ speed: () => 1 })
  const hotaisle = await startSimulatedHotAisle({ clock, machines: createMachinesInMemory() })
  const oci = await startSimulatedOci({ clock, machines: createMachinesInMemory() })
  const client = createDynamoClient(dynamo.config)
  const store = createDynamoStore({ client, table: dynamo.table, random: countingRandom() })
  await store.addApiKey({ hash: hashOf(apiKey), name: 'bench', role: 'operator', createdAt: 0 })

  const { tenancyId, userId, fingerprint, region, privateKey } = oci.credentials
  const ofHotAisle = {
    type: 'hotaisle',
    team_handle: hotaisle.team,
    creds: { api_key: hotaisle.apiKey },
    api_url: hotaisle.url,
  }
  const ofOci = {
    type: 'oci',
    creds: {
      type: 'client',
      user: userId,
      tenancy: tenancyId,
      fingerprint,
      key_content: privateKey,
      region,
    },
    regions: [region],
    compartment_id: oci.compartmentId,
    endpoint: oci.endpoint,
    ssh_port: oci.sshPort,
  }
  const ssh = { private_key: newKeyPair().privateKey }
  const environment = (backends: object[]) => ({
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: String(dynamo.config.endpoint),
    AWS_ENDPOINT_URL_SQS: queues.endpoint,
    POWERTOOLS_LOG_LEVEL: 'SILENT',
    BERTH_TABLE: dynamo.table,
    BERTH_SETTINGS: JSON.stringify({ backends, ssh }),
    BERTH_QUEUE_PROVISION: queues.urls.provision,
    BERTH_QUEUE_BOOTSTRAP: queues.urls.bootstrap,
    BERTH_QUEUE_CHECK: queues.urls.check,
    BERTH_QUEUE_TERMINATE: queues.urls.terminate,
    BERTH_QUEUE_DEAD_LETTERS: queues.deadLetters,
  })
  return {
    store,
    hotaisle,
    oci,
    withoutOci: environment([ofHotAisle]),
    withOci: environment([ofHotAisle, ofOci]),
    stop: async () => {
      client.destroy()
      await Promise.all([hotaisle.stop(), oci.stop(), queues.stop()])
      await dynamo.stop()
    },
  }
}
