import type { Clock } from '../../model/clock.ts'
import type { OciSettings } from '../../model/settings.ts'
import { type Answer, answerOf, failed, OciFailure } from './answer.ts'
import { type Credentials, openCredentials } from './credentials.ts'
import { createHttpClient, type Timeouts } from './http-client.ts'
import { loadSdk, type Sdk } from './sdk.ts'

/** Oracle's clients for one region. */
export type Clients = ReturnType<typeof clientsFor>

export type Page<Row> = { items: Row[]; opcNextPage?: string | undefined }

export type Api = {
  /** One call. `what` names it in messages. The `call` does all its reading inside, so that nothing odd gets out. */
  ask<Value>(what: string, region: string, call: (clients: Clients) => Promise<Value>): Promise<Answer<Value>>
  /** Every page of a list: a page can be empty and have a next one. Each is read by `rows`, which may throw. */
  list<Row>(
    what: string,
    region: string,
    page: (clients: Clients, page: string | undefined) => Promise<Page<Row>>,
  ): Promise<Answer<Row[]>>
  /** The tenancy of the credentials, and the region that is asked about it. */
  account(): Promise<Answer<Pick<Credentials, 'tenancy' | 'region'>>>
}

/** More than any list of ours has; a server that goes on for ever is not followed for ever. */
const mostPages = 500

/** Calls to OCI as values. Loads the SDK and reads the credentials at the first of them, again if that failed. */
export const createApi = (options: {
  settings: Pick<OciSettings, 'creds' | 'endpoint'>
  clock: Clock
  fetch: typeof fetch
  timeouts: Timeouts
}): Api => {
  const { settings } = options
  let opened: ReturnType<typeof open> | undefined

  const open = async () => {
    const sdk = await loadSdk()
    const credentials = openCredentials(settings.creds, sdk)
    const authEndpoint =
      endpointOf(settings.endpoint, 'auth', credentials.region) ??
      `https://auth.${credentials.region}.oraclecloud.com`
    const httpClient = createHttpClient({ ...options, sdk, credentials, authEndpoint })
    return { sdk, credentials, httpClient, clients: new Map<string, Clients>() }
  }
  const once = async () => {
    opened ??= open()
    try {
      return await opened
    } catch (error) {
      opened = undefined
      throw error
    }
  }
  const clientsIn = async (region: string): Promise<Clients> => {
    const { sdk, httpClient, clients } = await once()
    const known = clients.get(region) ?? clientsFor({ sdk, httpClient, region, endpoint: settings.endpoint })
    clients.set(region, known)
    return known
  }

  /** A key that was refused may have been replaced in its file; a session sees to that itself, and knows more. */
  const judged = async <Value>(answer: Promise<Answer<Value>>): Promise<Answer<Value>> => {
    const got = await answer
    if (got.kind === 'failed' && got.status === 401 && opened) {
      const used = opened
      const isSession = await used
        .then(({ credentials }) => credentials.session !== undefined)
        .catch(() => false)
      if (!isSession && opened === used) opened = undefined
    }
    return got
  }

  return {
    ask: (what, region, call) => judged(answerOf(what, async () => call(await clientsIn(region)))),
    list: <Row>(
      what: string,
      region: string,
      ask: (clients: Clients, page: string | undefined) => Promise<Page<Row>>,
    ) =>
      judged(
        answerOf(what, async () => {
          const inRegion = await clientsIn(region)
          const rows: Row[] = []
          let token: string | undefined
          for (let pages = 0; pages < mostPages; pages++) {
            const { items, opcNextPage } = await ask(inRegion, token)
            rows.push(...items)
            if (!opcNextPage) return rows
            token = opcNextPage
          }
          throw new OciFailure(failed(undefined, 'Endless', `the list does not end after ${mostPages} pages`))
        }),
      ),
    account: () =>
      answerOf('credentials', async () => {
        const { tenancy, region } = (await once()).credentials
        return { tenancy, region }
      }),
  }
}

const clientsFor = (options: {
  sdk: Sdk
  httpClient: ReturnType<typeof createHttpClient>
  region: string
  endpoint: string | undefined
}) => {
  const { httpClient, region } = options
  const { common, core, identity, marketplace } = options.sdk
  const auth = { httpClient }
  const configuration = {
    retryConfiguration: common.NoRetryConfigurationDetails,
    circuitBreaker: new common.CircuitBreaker({ disableClientCircuitBreaker: true }),
  }
  const at = <Client extends { regionId: string; endpoint: string }>(
    client: Client,
    service: string,
  ): Client => {
    const endpoint = endpointOf(options.endpoint, service, region)
    if (endpoint === undefined) client.regionId = region
    else client.endpoint = endpoint
    return client
  }
  const compute = at(new core.ComputeClient(auth, configuration), 'compute')
  return {
    compute,
    network: at(new core.VirtualNetworkClient(auth, configuration), 'network'),
    identity: at(new identity.IdentityClient(auth, configuration), 'identity'),
    marketplace: at(new marketplace.MarketplaceClient(auth, configuration), 'marketplace'),
    models: core.models,
    marketplaceModels: marketplace.models,
    /** Of the Compute service, for which there is no client among the parts that are used. */
    get: async (path: string, queryParams: Record<string, string>): Promise<unknown> => {
      const request = await common.composeRequest({
        baseEndpoint: compute.endpoint,
        defaultHeaders: {},
        path,
        method: 'GET',
        queryParams,
      })
      const response = await httpClient.send(request)
      return response.json()
    },
  }
}

const endpointOf = (template: string | undefined, service: string, region: string): string | undefined =>
  template?.replaceAll('{service}', service).replaceAll('{region}', region).replace(/\/+$/, '')
