import type { Clock } from '../../model/clock.ts'
import type { OfferError } from '../../model/offer.ts'
import { type OciSettings, ociRegion } from '../../model/settings.ts'
import { after, ok } from './answer.ts'
import type { Api } from './api.ts'
import { type Remembered, remember } from './remember.ts'

export type Regions = {
  tenancy: string
  /** Where compartments are made. */
  home: string
  /** Where there are images and the tenancy is subscribed, whatever the settings say: machines can be there. */
  reachable: string[]
  /** Where machines are to be rented. */
  wanted: string[]
  /** One for each region of the settings that can't be used. */
  errors: OfferError[]
}

/** Name of the compartment that Berth makes itself where the settings name none. */
export const compartmentName = 'berth'

const minuteMs = 60_000

export type Places = ReturnType<typeof createPlaces>

/** Where in OCI Berth may work. */
export const createPlaces = (options: {
  api: Api
  settings: Pick<OciSettings, 'regions' | 'compartment_id'>
  clock: Clock
}) => {
  const { api, settings, clock } = options

  const regions = remember(clock, minuteMs, async () =>
    after(await api.account(), async ({ tenancy, region }) => {
      const subscriptions = await api.ask('region subscriptions', region, async ({ identity }) => {
        const { items } = await identity.listRegionSubscriptions({ tenancyId: tenancy })
        return items.map(({ regionName, status, isHomeRegion }) => ({
          regionName,
          status: String(status),
          isHomeRegion,
        }))
      })
      return after(subscriptions, (rows) => ok(judge(rows, { tenancy, region, asked: settings.regions })))
    }),
  )

  /** Where Berth's things are, or undefined while its compartment is not made. */
  const compartment: Remembered<string | undefined> = remember(clock, minuteMs, async () => {
    if (settings.compartment_id !== undefined) return ok(settings.compartment_id)
    return after(await regions(''), async ({ tenancy, home }) => {
      const found = await api.list('compartments', home, ({ identity }, page) =>
        identity.listCompartments({
          compartmentId: tenancy,
          name: compartmentName,
          ...(page !== undefined && { page }),
        }),
      )
      return after(found, (rows) =>
        ok(rows.find(({ lifecycleState }) => String(lifecycleState) === 'ACTIVE')?.id),
      )
    })
  })

  return {
    regions: () => regions(''),
    compartment: () => compartment(''),
    forgetCompartment: () => compartment.forget(''),
    /** Whether the compartment is, or will be, one that Berth made. */
    isOwn: settings.compartment_id === undefined,
    /**
     * Names of a region's availability domains. They differ from tenancy to tenancy: those count that the configured
     * compartment sees, whatever tenancy the credentials are of.
     */
    domains: remember(clock, Number.POSITIVE_INFINITY, async (region) =>
      after(await compartment(''), async (id) =>
        after(await regions(''), ({ tenancy }) =>
          api.ask('availability domains', region, async ({ identity }) => {
            const { items } = await identity.listAvailabilityDomains({ compartmentId: id ?? tenancy })
            return items.flatMap(({ name }) => name ?? []).sort()
          }),
        ),
      ),
    ),
  }
}

const judge = (
  rows: { regionName: string; status: string; isHomeRegion: boolean }[],
  { tenancy, region, asked }: { tenancy: string; region: string; asked: readonly string[] | undefined },
): Regions => {
  const ready = rows.filter(({ status }) => status === 'READY').map(({ regionName }) => regionName)
  const reachable = ociRegion.options.filter((name) => ready.includes(name))
  const wanted = asked === undefined ? reachable : reachable.filter((name) => asked.includes(name))
  const errors = (asked ?? []).flatMap((name): OfferError[] => {
    if (ready.includes(name)) return []
    const status = rows.find(({ regionName }) => regionName === name)?.status
    const why = status === undefined ? 'the tenancy is not subscribed to it' : `its subscription is ${status}`
    const message = `Nothing is offered in ${name}: ${why}. Subscribe to it in the OCI console, or take it off regions.`
    return [{ backend: 'oci', code: 'region_not_subscribed', message }]
  })
  if (reachable.length === 0) {
    const message = `The tenancy is subscribed to none of the regions with images: ${ociRegion.options.join(', ')}.`
    errors.push({ backend: 'oci', code: 'region_not_subscribed', message })
  }
  const home = rows.find(({ isHomeRegion }) => isHomeRegion)?.regionName ?? region
  return { tenancy, home, reachable, wanted, errors }
}
