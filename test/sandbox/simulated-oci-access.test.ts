import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newKeyPair } from '../../sandbox/clouds/oci/key-pair.ts'
import { deliver, type RawRequest, signed } from './oci-signed-request.ts'
import { domains, frankfurt, minute, type OciStage, refusalOf, setUpOci } from './oci-stage.ts'

const hour = 60 * minute
const stranger = newKeyPair()
const notAuthenticated = { status: 401, code: 'NotAuthenticated' }
const notFound = { status: 404, code: 'NotAuthorizedOrNotFound' }

let stage: OciStage

beforeEach(async () => {
  stage = await setUpOci({ subscribedRegions: [frankfurt, 'us-phoenix-1'] })
})
afterEach(() => stage.tearDown())

const whoAmI = { service: 'identity', path: '/20160918/users/ocid1.user.oc1..aaaasandbox' }
const report = { service: 'compute', method: 'POST' as const, path: '/20160918/computeCapacityReports' }

describe('an API key', () => {
  it('signs what Oracle’s own client asks', async () => {
    const { identity } = stage.clients()
    const { user } = await identity.getUser({ userId: stage.cloud.credentials.userId })
    expect(user).toMatchObject({ name: 'sandbox', compartmentId: stage.cloud.credentials.tenancyId })
  })

  it.each([
    ['is another one', { privateKey: stranger.privateKey }],
    ['has another fingerprint', { fingerprint: '00:11' }],
    ['is of another user', { userId: 'ocid1.user.oc1..aaaaother' }],
    ['is said to be of another tenancy', { tenancyId: 'ocid1.tenancy.oc1..aaaapartner' }],
  ])('that %s is refused', async (_, signIn) => {
    const { identity } = stage.clients(signIn)
    const { userId } = stage.cloud.credentials
    expect(await refusalOf(identity.getUser({ userId }))).toMatchObject(notAuthenticated)
  })

  it('is nobody’s in a region that the tenancy has not subscribed to', async () => {
    const { identity } = stage.clients({}, 'uk-london-1')
    const { userId } = stage.cloud.credentials
    expect(await refusalOf(identity.getUser({ userId }))).toMatchObject(notAuthenticated)
  })

  it('is made at the first start, and stays the same', async () => {
    const anew = await setUpOci({ privateKey: undefined })
    const before = anew.cloud.credentials
    await anew.restart()
    expect(anew.cloud.credentials).toEqual(before)
    expect(before.privateKey).not.toBe(stage.cloud.credentials.privateKey)
    await anew.tearDown()
  })
})

describe('a signature', () => {
  const body = { compartmentId: 'x' }

  it('over a body is right as Oracle’s signer makes it', async () => {
    const answer = await deliver(await signed(stage.cloud, { ...report, body }))
    expect(answer).toMatchObject({ status: 400, body: { code: 'InvalidParameter' } })
  })

  it.each<[string, (request: RawRequest) => Partial<RawRequest>]>([
    ['of another path', ({ url }) => ({ url: url.replace('Reports', 'Reports?x=1') })],
    ['of another body', ({ body }) => ({ body: body?.replace('"x"', '"y"') ?? '' })],
    ['of another digest', ({ headers }) => ({ headers: { ...headers, 'x-content-sha256': 'AAAA' } })],
    ['of another date', ({ headers }) => ({ headers: { ...headers, 'x-date': new Date(0).toUTCString() } })],
    ['of another host', ({ headers }) => ({ headers: { ...headers, host: 'elsewhere' } })],
    ['without the digest', ({ headers }) => ({ headers: without(headers, ' x-content-sha256') })],
    ['without the host', ({ headers }) => ({ headers: without(headers, ' host') })],
    ['without the target', ({ headers }) => ({ headers: without(headers, ' \\(request-target\\)') })],
    ['of an unknown version', ({ headers }) => ({ headers: without(headers, 'version="1",') })],
    ['that is missing', ({ headers: { authorization: _, ...headers } }) => ({ headers })],
    ['that is no signature', ({ headers }) => ({ headers: { ...headers, authorization: 'Bearer x' } })],
  ])('%s is refused', async (_, tamper) => {
    const request = await signed(stage.cloud, { ...report, body })
    const answer = await deliver({ ...request, ...tamper(request) })
    expect(answer).toMatchObject({ status: 401, body: { code: 'NotAuthenticated' } })
  })

  it.each([
    ['four minutes', 4, 200],
    ['six minutes', 6, 401],
    ['minus six minutes', -6, 401],
  ])('made %s ago (%i) is answered with %i', async (_, minutes, status) => {
    const given = { 'x-date': new Date(Date.now() - minutes * minute).toUTCString() }
    expect((await deliver(await signed(stage.cloud, whoAmI, {}, given))).status).toBe(status)
  })
})

const without = (headers: Record<string, string>, part: string) => ({
  ...headers,
  authorization: headers.authorization?.replace(new RegExp(part), '') ?? '',
})

describe('a session token', () => {
  const use = ({ token, privateKey }: { token: string; privateKey: string }) => {
    const { userId } = stage.cloud.credentials
    return stage.clients({ token, privateKey }).identity.getUser({ userId })
  }
  const refresh = async ({ token, privateKey }: { token: string; privateKey: string }) => {
    const path = '/v1/authentication/refresh'
    const asked = { service: 'auth', method: 'POST' as const, path, body: { currentToken: token } }
    return deliver(await signed(stage.cloud, asked, { token, privateKey }))
  }

  it('signs with the key that it was made for', async () => {
    const session = stage.cloud.startSession()
    expect((await use(session)).user.name).toBe('sandbox')
    expect(await refusalOf(use({ ...session, privateKey: stranger.privateKey }))).toMatchObject(
      notAuthenticated,
    )
  })

  it('that was changed is refused', async () => {
    const session = stage.cloud.startSession()
    const [head, claims = '', signature] = session.token.split('.')
    const longer = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), exp: 9_999_999_999 }
    const token = [head, Buffer.from(JSON.stringify(longer)).toString('base64url'), signature].join('.')
    expect(await refusalOf(use({ ...session, token }))).toMatchObject(notAuthenticated)
  })

  it('lasts an hour by the clock, and says so', async () => {
    const session = stage.cloud.startSession()
    const [, claims = ''] = session.token.split('.')
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      exp: (stage.clock.now() + hour) / 1000,
    })
    stage.clock.advance(hour - 1)
    await use(session)
    stage.clock.advance(1)
    expect(await refusalOf(use(session))).toMatchObject(notAuthenticated)
  })

  it('can be exchanged, also after its hour, until the session ends', async () => {
    const session = stage.cloud.startSession(3 * hour)
    stage.clock.advance(2 * hour)
    const { status, body } = await refresh(session)
    expect(status).toBe(200)
    await use({ ...session, token: body.token })
    stage.clock.advance(hour)
    expect(await refresh({ ...session, token: body.token })).toMatchObject({ status: 401 })
    expect(await refusalOf(use({ ...session, token: body.token }))).toMatchObject(notAuthenticated)
  })

  it('is given no longer than its session lasts', async () => {
    const session = stage.cloud.startSession(hour / 2)
    stage.clock.advance(hour / 2)
    expect(await refusalOf(use(session))).toMatchObject(notAuthenticated)
  })

  it('of a session that was ended is worth nothing', async () => {
    const session = stage.cloud.startSession()
    stage.cloud.endSession(session.id)
    expect(await refusalOf(use(session))).toMatchObject(notAuthenticated)
    expect(await refresh(session)).toMatchObject({ status: 401 })
  })

  it('that has run out can be made unexchangeable', async () => {
    const session = stage.cloud.startSession()
    stage.cloud.switches.onlyFreshTokensRefresh = true
    expect(await refresh(session)).toMatchObject({ status: 200 })
    stage.clock.advance(hour)
    expect(await refresh(session)).toMatchObject({ status: 401 })
  })

  it('goes on after the cloud was started again', async () => {
    const session = stage.cloud.startSession()
    await stage.restart()
    expect((await use(session)).user.name).toBe('sandbox')
  })
})

describe('credentials', () => {
  it.each([
    ['all_401', notAuthenticated],
    ['all_404', notFound],
  ] as const)('can be made as good as broken: %s', async (how, refusal) => {
    const { identity } = stage.clients()
    const { userId } = stage.cloud.credentials
    stage.cloud.switches.credentials = how
    expect(await refusalOf(identity.getUser({ userId }))).toMatchObject(refusal)
    stage.cloud.switches.credentials = 'good'
    expect((await identity.getUser({ userId })).user.id).toBe(userId)
  })
})

describe('the domains', () => {
  const namesFor = async (compartmentId: string, region?: string) => {
    const { items } = await stage.clients({}, region).identity.listAvailabilityDomains({ compartmentId })
    return items.map(({ name }) => name)
  }

  it('have names of their own in each tenancy', async () => {
    expect(await namesFor(stage.cloud.compartmentId)).toEqual(domains)
    expect(await namesFor(stage.cloud.otherTenancy.compartmentId)).toEqual(
      domains.map((name) => name.replace('kIdk', 'qXyz')),
    )
    expect(await namesFor(stage.cloud.compartmentId, 'us-phoenix-1')).toContain('kIdk:PHX-AD-1')
  })

  it('are asked for by the names of the compartment’s tenancy', async () => {
    const { compute } = stage.clients()
    const { compartmentId } = stage.cloud.otherTenancy
    const [own = ''] = domains
    const [right = ''] = await namesFor(compartmentId)
    expect(await refusalOf(compute.listShapes({ compartmentId, availabilityDomain: own }))).toMatchObject(
      notFound,
    )
    expect((await compute.listShapes({ compartmentId, availabilityDomain: right })).items).not.toEqual([])
  })

  it('of a compartment that is not shared are not shown', async () => {
    const { identity } = stage.clients()
    const compartmentId = stage.cloud.otherTenancy.tenancyId
    expect(await refusalOf(identity.listAvailabilityDomains({ compartmentId }))).toMatchObject(notFound)
  })
})

describe('the regions', () => {
  it('that are subscribed to are listed, for the own tenancy alone', async () => {
    const { identity } = stage.clients()
    const { tenancyId } = stage.cloud.credentials
    const { items } = await identity.listRegionSubscriptions({ tenancyId })
    expect(items).toMatchObject([
      { regionName: frankfurt, regionKey: 'FRA', isHomeRegion: true, status: 'READY' },
      { regionName: 'us-phoenix-1', regionKey: 'PHX', isHomeRegion: false },
    ])
    const { tenancyId: other } = stage.cloud.otherTenancy
    expect(await refusalOf(identity.listRegionSubscriptions({ tenancyId: other }))).toMatchObject(notFound)
    expect((await identity.getTenancy({ tenancyId })).tenancy.homeRegionKey).toBe('FRA')
  })
})
