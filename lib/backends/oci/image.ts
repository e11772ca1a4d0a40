import { type Answer, after, failed, ok } from './answer.ts'
import type { Api } from './api.ts'

type Place = { region: string; compartmentId: string }
type Package = { listingId: string; packageVersion: string }

/** The image of a Marketplace listing in a region, with the agreements accepted without which it can't be used. */
export const ensureImage = async (api: Api, place: Place, listing: string): Promise<Answer<string>> =>
  after(await findListing(api, place, listing), async (listingId) =>
    after(await readPackage(api, place, listingId), async ({ packageVersion, imageId }) =>
      after(await acceptAgreements(api, place, { listingId, packageVersion }), () => ok(imageId)),
    ),
  )

/** The one of exactly that name: the search finds similar ones too. */
const findListing = async (
  api: Api,
  { region, compartmentId }: Place,
  name: string,
): Promise<Answer<string>> => {
  const found = await api.list('Marketplace listings', region, ({ marketplace, marketplaceModels }, page) =>
    marketplace.listListings({
      name: [name],
      listingTypes: [marketplaceModels.ListingType.Community],
      compartmentId,
      ...(page !== undefined && { page }),
    }),
  )
  return after(found, (rows) => {
    const exact = rows.filter((row) => row.name === name)
    const [only] = exact
    if (exact.length === 1 && only?.id !== undefined) return ok(only.id)
    const message = `There are ${exact.length} Marketplace listings with the name ${name} in ${region}, not one; is image_version right?`
    return failed(400, 'ListingNotFound', message)
  })
}

const readPackage = (api: Api, { region, compartmentId }: Place, listingId: string) =>
  api.ask('the image', region, async ({ marketplace }) => {
    const { listing } = await marketplace.getListing({ listingId, compartmentId })
    const packageVersion = listing.defaultPackageVersion ?? ''
    const read = await marketplace.getPackage({ listingId, packageVersion, compartmentId })
    const imageId = 'imageId' in read.listingPackage ? String(read.listingPackage.imageId) : ''
    if (imageId === '') throw new Error(`the listing ${listingId} has no image`)
    return { packageVersion, imageId }
  })

const acceptAgreements = async (
  api: Api,
  { region, compartmentId }: Place,
  { listingId, packageVersion }: Package,
): Promise<Answer<void>> => {
  const of = { compartmentId, listingId, packageVersion }
  const next = (page: string | undefined) => (page === undefined ? {} : { page })
  const [agreements, accepted] = await Promise.all([
    api.list('agreements', region, ({ marketplace }, page) =>
      marketplace.listAgreements({ ...of, ...next(page) }),
    ),
    api.list('accepted agreements', region, ({ marketplace }, page) =>
      marketplace.listAcceptedAgreements({ ...of, ...next(page) }),
    ),
  ])
  return after(agreements, (all) =>
    after(accepted, (done) =>
      api.ask('agreements', region, async ({ marketplace }) => {
        const known = new Set(done.map(({ agreementId }) => agreementId))
        for (const { id = '' } of all.filter((row) => !known.has(row.id ?? ''))) {
          const { agreement } = await marketplace.getAgreement({ ...of, agreementId: id })
          await marketplace.createAcceptedAgreement({
            createAcceptedAgreementDetails: { ...of, agreementId: id, signature: agreement.signature },
          })
        }
      }),
    ),
  )
}
