import { afterEach, beforeEach, expect, it } from 'vitest'
import { defaultListings } from '../../sandbox/clouds/oci/images.ts'
import { acceptImage, type Clients, frankfurt, type OciStage, refusalOf, setUpOci } from './oci-stage.ts'

const notFound = { status: 404, code: 'NotAuthorizedOrNotFound' }

let stage: OciStage
let clients: Clients
let compartmentId: string

beforeEach(async () => {
  const listings = defaultListings.map((listing) =>
    listing.name === 'dstack-0.14' ? { ...listing, regions: [frankfurt] } : listing,
  )
  stage = await setUpOci({ listings })
  clients = stage.clients()
  compartmentId = stage.cloud.compartmentId
})
afterEach(() => stage.tearDown())

const find = async (name: string, region?: string) => {
  const { marketplace } = stage.clients({}, region)
  return (await marketplace.listListings({ name: [name], compartmentId })).items
}
const firstAgreement = async () => {
  const listingId = (await find('dstack-cuda-0.10'))[0]?.id ?? ''
  const { listing } = await clients.marketplace.getListing({ listingId })
  const packageVersion = listing.defaultPackageVersion ?? ''
  const { items } = await clients.marketplace.listAgreements({ listingId, packageVersion })
  return { listingId, packageVersion, agreementId: items[0]?.id ?? '' }
}

it('a search finds what has the words in its name too, and in pages', async () => {
  const names = (await find('dstack-cuda-0.14')).map(({ name }) => name)
  expect(names).toEqual(['dstack-cuda-0.14-beta', 'dstack-cuda-0.14'])
  stage.cloud.switches.pageSize.listListings = 1
  const { items, opcNextPage } = await clients.marketplace.listListings({ name: ['dstack-cuda-0.14'] })
  expect(items.map(({ name }) => name)).toEqual(['dstack-cuda-0.14-beta'])
  const next = await clients.marketplace.listListings({ name: ['dstack-cuda-0.14'], page: opcNextPage })
  expect(next.items.map(({ name }) => name)).toEqual(['dstack-cuda-0.14'])
})

it('a listing is one of its region', async () => {
  const [there] = await find('dstack-cuda-0.10')
  const [elsewhere] = await find('dstack-cuda-0.10', 'us-phoenix-1')
  expect(there?.id).not.toBe(elsewhere?.id)
  const listingId = elsewhere?.id ?? ''
  expect(await refusalOf(clients.marketplace.getListing({ listingId }))).toMatchObject(notFound)
  const none = await find('dstack-0.14', 'us-phoenix-1')
  expect(none.map(({ name }) => name)).toEqual(['dstack-0.14-beta'])
})

it('a package has an image of its region', async () => {
  const imageId = await acceptImage(clients.marketplace, compartmentId, 'dstack-cuda-0.14')
  expect(imageId).toContain(frankfurt)
  expect((await clients.compute.getImage({ imageId })).image.lifecycleState).toBe('AVAILABLE')
  const { compute } = stage.clients({}, 'us-phoenix-1')
  expect(await refusalOf(compute.getImage({ imageId }))).toMatchObject(notFound)
})

it('a package of another version is not there', async () => {
  const { listingId } = await firstAgreement()
  const wrong = clients.marketplace.getPackage({ listingId, packageVersion: '0.1' })
  expect(await refusalOf(wrong)).toMatchObject(notFound)
})

it('an agreement is accepted with its signature, once for each compartment', async () => {
  const agreed = await firstAgreement()
  const accept = (signature: string, where = compartmentId) =>
    clients.marketplace.createAcceptedAgreement({
      createAcceptedAgreementDetails: { compartmentId: where, signature, ...agreed },
    })
  const accepted = async (where = compartmentId) => {
    const { items } = await clients.marketplace.listAcceptedAgreements({ compartmentId: where })
    return items.map(({ agreementId }) => agreementId)
  }
  expect(await refusalOf(accept('made up'))).toMatchObject({ status: 400, code: 'InvalidParameter' })
  expect(await accepted()).toEqual([])
  const { agreement } = await clients.marketplace.getAgreement(agreed)
  await accept(agreement.signature)
  await accept(agreement.signature)
  expect(await accepted()).toEqual([agreed.agreementId])
  expect(await accepted(stage.cloud.otherTenancy.compartmentId)).toEqual([])
  await stage.restart()
  clients = stage.clients()
  expect(await accepted()).toEqual([agreed.agreementId])
})

it('an agreement of another listing has another signature', async () => {
  const agreed = await firstAgreement()
  const other = (await find('dstack-cuda-0.14-beta'))[0]?.id ?? ''
  const { agreement } = await clients.marketplace.getAgreement({
    ...agreed,
    listingId: other,
    packageVersion: '0.14-beta',
  })
  const { signature } = agreement
  const wrong = clients.marketplace.createAcceptedAgreement({
    createAcceptedAgreementDetails: { compartmentId, signature, ...agreed },
  })
  expect(await refusalOf(wrong)).toMatchObject({ status: 400, code: 'InvalidParameter' })
})
