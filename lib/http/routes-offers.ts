import { listOffers } from '../lifecycle/offers.ts'
import { offersQuery, wantedByQuery } from '../model/request.ts'
import type { Route } from './http-handler.ts'
import { offerView } from './offer-view.ts'
import { parseWith } from './parse.ts'
import { json } from './problem.ts'

export const offerRoutes: Route[] = [
  {
    method: 'GET',
    path: '/offers',
    handle: async (ctx, { query }) => {
      const wanted = wantedByQuery(parseWith(offersQuery, query, 'query'))
      const { offers, errors } = await listOffers(ctx, wanted)
      return json(200, { offers: offers.map(offerView), errors })
    },
  },
]
