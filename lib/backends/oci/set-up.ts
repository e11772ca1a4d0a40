import type { Clock } from '../../model/clock.ts'
import { type Answer, after, ok } from './answer.ts'
import type { Api } from './api.ts'
import { ensureCompartment, untilKnown } from './compartment.ts'
import { ensureImage } from './image.ts'
import { ensureNetwork, type Network } from './network.ts'
import type { Places } from './places.ts'
import { remember } from './remember.ts'

/** Everything that a launch names. */
export type Ground = Network & { compartmentId: string; imageId: string }

export type SetUp = {
  /** Finds or makes it all. What was found is remembered while the process lives. */
  ground(region: string, listing: string): Promise<Answer<Ground>>
  /** Looks again next time: somebody may have deleted something. */
  forget(region: string, listing: string): void
}

/** What a region needs before anything can be launched there; done on first use, as often as one likes. */
export const createSetUp = ({ api, places, clock }: { api: Api; places: Places; clock: Clock }): SetUp => {
  const always = Number.POSITIVE_INFINITY
  const network = remember(clock, always, async (region) =>
    after(await ensureCompartment(api, places), (compartmentId) =>
      ensureNetwork(api, { region, compartmentId }),
    ),
  )
  const image = remember(clock, always, async (key) => {
    const [region = '', listing = ''] = key.split(' ')
    return after(await ensureCompartment(api, places), (compartmentId) =>
      ensureImage(api, { region, compartmentId }, listing),
    )
  })
  return {
    ground: async (region, listing) =>
      after(await ensureCompartment(api, places), async (compartmentId) => {
        const [net, imageId] = await Promise.all([network(region), image(`${region} ${listing}`)])
        return after(untilKnown(places, net), (parts) =>
          after(untilKnown(places, imageId), (id) => ok({ ...parts, compartmentId, imageId: id })),
        )
      }),
    forget: (region, listing) => {
      network.forget(region)
      image.forget(`${region} ${listing}`)
    },
  }
}
