import { listOffers } from '../lifecycle/offers.ts'
import { offersQuery, wantedByQuery } from '../model/request.ts'
import { type OfferList, offerList } from './answers.ts'
import { anOffer } from './examples.ts'
import type { Route } from './http-handler.ts'
import { offerView } from './offer-view.ts'
import { parseWith } from './parse.ts'
import { json } from './problem.ts'

export const offerRoutes: Route[] = [
  {
    method: 'GET',
    path: '/offers',
    about: {
      operationId: 'listOffers',
      tag: 'offers',
      summary: 'List offers',
      description:
        'Every machine that fits and can be had now, with what an hour costs and what has to be paid at least. Idle machines that Berth holds come first, since they cost nothing more to take; then what is available, then by price. Nothing is rented by it.',
      query: offersQuery,
      answer: {
        status: 200,
        description: 'The offers, and what could not be had.',
        schema: offerList,
        examples: {
          bareMetal: { offers: [anOffer], errors: [] },
          oneCloudDown: {
            offers: [anOffer],
            errors: [{ backend: 'oci', code: 'no_answer', message: 'OCI did not answer in time.' }],
          },
        },
      },
    },
    handle: async (ctx, { query }) => {
      const wanted = wantedByQuery(parseWith(offersQuery, query, 'query'))
      const { offers, errors } = await listOffers(ctx, wanted)
      return json<OfferList>(200, { offers: offers.map(offerView), errors })
    },
  },
]
